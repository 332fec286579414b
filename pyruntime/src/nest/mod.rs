//! Where in the loop nest the program is, told by the loops themselves: native, once per iteration.
pub mod entered;
pub mod follow;
pub mod iteration;
mod levels;
pub mod owner;
mod pace;
pub mod path;
