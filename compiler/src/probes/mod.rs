//! Two versions of a file: the statements added in hindsight, the loops they probe, and every other change.

mod align;
mod classify;

pub use align::{Aligned, align};
pub use classify::{Change, ChangeKind, Report, compare};
