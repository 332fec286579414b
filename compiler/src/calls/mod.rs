//! Who calls whom inside the project, and what a call expression can reach.

mod classes;
mod graph;
mod imports;
mod link;
mod project;
mod resolve;

pub(crate) use graph::functions_named;
pub use graph::{CallGraph, CallSite};
pub use imports::{Codebase, Found, Unfollowed, follow};
pub use link::Denoted;
pub(crate) use project::dotted;
pub use project::{ClassInfo, Project};
pub use resolve::Callee;
