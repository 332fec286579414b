//! Two versions of a project: which statements were added in hindsight, what else changed, which loops that reaches.

mod align;
mod apart;
mod classify;
mod compare;
mod lookup;
mod reach;

pub use apart::Apart;
pub use compare::{Change, ChangeKind, Function, Report, compare};
pub use reach::loops_that_enter;
