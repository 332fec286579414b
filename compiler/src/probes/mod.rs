//! Two versions of a project: which statements were added in hindsight, what else changed, which loops that reaches.

mod align;
mod apart;
mod asked;
mod beside;
mod carried;
mod classify;
mod compare;
mod form;
mod held;
mod layout;
mod looking;
mod lookup;
mod reach;
mod stepping;
mod unbound;
mod unused;
mod words;

pub use apart::Apart;
pub use asked::{Place, Question, ask};
pub use beside::{groups, is_in_deletion};
pub use carried::is_fresh;
pub use compare::{Change, ChangeKind, Function, Report, compare};
pub use form::asks_for_form_only;
pub use held::names_that_hold;
pub use reach::loops_that_enter;
pub use words::{left_by_forward, words};
