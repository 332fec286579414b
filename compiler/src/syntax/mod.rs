//! Text to tree. The only module that names the parser: everything else reads [`tree`].

mod lower;
mod parse;
mod tokens;
pub mod tree;
pub mod walk;

pub use parse::{MAX_NESTING, parse};
pub use tokens::Tokens;
pub use tree::Module;
