//! Who calls whom inside the project, and what a call expression can reach.

mod graph;
mod project;
mod resolve;

pub use graph::{CallGraph, CallSite};
pub use project::{ClassInfo, Project};
pub use resolve::Callee;
