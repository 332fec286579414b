//! What a program holds, looked at before a block and after it (`survey/survey.py` says why).
//!
//! `classes` asks Python once for each class how its objects are read, `parts` and `readings` read them, `sight` holds what was
//! seen and finds it again. What holds thousands of objects is looked at twice per checkpoint: nothing here makes an object of
//! Python's for a part that did not change.
mod classes;
pub mod hidden;
mod keys;
pub mod names;
mod parts;
pub mod plain;
mod readings;
mod sight;

pub use readings::Readings;
pub use sight::{Again, Sight};
