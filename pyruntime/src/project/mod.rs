//! The compiler, for Python: instrument a text, compare two versions, run a command line.
pub mod asked;
pub mod changes;
pub mod command_line;
pub mod comparison;
pub mod compile;
pub mod files;
mod first_line;
mod library;
mod line_table;
pub mod plan;
pub mod sources;
