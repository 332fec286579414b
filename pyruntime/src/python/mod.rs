//! The classes and functions of `florc._native` that stand for a room of their own name: conversions, and nothing else.
pub mod arrow;
pub mod check;
mod forking;
pub mod housekeeping;
pub mod json;
mod key;
pub mod late;
pub mod path;
pub mod policy;
pub mod reader;
pub mod record;
pub mod recorder;
pub mod saver;
pub mod sizes;
