//! Where in the loop nest the program is, told by the loops themselves: native, once per iteration.
pub mod blocks;
pub mod entered;
pub mod follow;
pub mod iteration;
pub mod levels;
mod live;
mod numbers;
pub mod owner;
mod pace;
pub mod path;
mod quick;
pub mod whiles;
