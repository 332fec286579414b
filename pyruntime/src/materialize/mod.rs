//! Checkpoints in the background: staged memory in, durable chunks and a journal record out.
//!
//! `recorder` is what the training process calls. It copies into `arena`, shared memory laid out by
//! `staged`, and sends a few bytes of `wire` through a `pipe`. At the other end `drain` hands each
//! command to `commit`, in a process of its own (`child`, started by `engine`), on a native thread,
//! or at once in the caller. State that is slow to encode may be left to a child of the training
//! process (`encoder`), which writes it into the arena as `forked` lays down.
pub mod arena;
mod child;
pub mod commit;
pub mod drain;
mod encoder;
pub mod engine;
pub(crate) mod forked;
mod link;
pub mod memory;
mod outbox;
pub mod pipe;
mod record;
pub mod recorder;
pub mod staged;
#[cfg(test)]
mod tests;
mod thin;
mod totals;
pub mod wire;

pub use engine::Engine;
pub use recorder::{Options, Receipt, Recorder};
pub use totals::Totals;
