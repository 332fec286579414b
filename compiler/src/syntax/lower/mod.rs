//! The parser's tree to ours.

mod check;
mod expr;
mod lowering;
mod pattern;
mod stmt;

pub(super) use lowering::Lowering;
pub use lowering::MAX_NESTING;
