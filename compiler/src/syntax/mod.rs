//! Text to tree. The only module that names the parser: everything else reads [`tree`].

mod file;
mod lower;
mod number;
mod parse;
mod tokens;
pub mod tree;
pub mod walk;

pub use file::File;
pub use parse::{MAX_NESTING, parse};
pub use tokens::Tokens;
pub use tree::Module;
