//! Who calls whom inside the project, and what a call expression can reach.

mod graph;
mod resolve;

pub(crate) use graph::functions_named;
pub use graph::{CallGraph, CallSite};
pub use resolve::Callee;
pub(crate) use resolve::is_super;
