//! Text to tree. The only module that names the parser: everything else reads [`tree`].

mod beside;
mod deep;
mod downlevel;
mod file;
mod lexer;
mod lower;
mod number;
mod parse;
mod range;
#[cfg(test)]
mod tests;
mod tokens;
pub mod tree;
pub mod walk;
mod walked;

pub use beside::on_deep_stacks;
pub use deep::{DEEP_STACK, on_deep_stack};
pub use file::File;
pub use lower::MAX_NESTING;
pub use parse::parse;
pub use tokens::Tokens;
pub use tree::Module;
