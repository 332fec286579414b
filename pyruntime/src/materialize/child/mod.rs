//! Processes of florc's own: the writer, and the child that encodes one checkpoint.
pub(super) mod process;
pub(crate) mod slot;
pub(super) mod start;
