//! Checkpoints in the background: staged memory in, durable chunks and a journal record out.
//!
//! `recorder` is what the training process calls. It copies into `arena`, shared memory laid out by
//! `staged`, and sends a few bytes of `wire` through a `pipe`. At the other end `drain` hands each
//! command to `commit`, in a process of its own (`child::process`, started by `engine`), on a native thread,
//! or at once in the caller. State that is slow to encode may be left to a child of the training
//! process (`child::start`), which writes it into the arena as `child::slot` lays down. What is larger
//! than the arena goes through it in pieces (`in_pieces`, `pieces`).
pub mod arena;
pub(crate) mod child;
pub mod commit;
pub mod drain;
pub mod engine;
mod in_pieces;
mod large;
pub mod memory;
mod pieces;
pub mod pipe;
mod record;
pub mod recorder;
mod retention;
mod send_queue;
pub mod staged;
#[cfg(test)]
mod tests;
mod totals;
pub mod wire;
mod writer_link;

pub use engine::Engine;
pub use recorder::{Options, Receipt, Recorder};
pub use totals::Totals;
