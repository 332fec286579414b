//! Checkpoints in the background: staged memory in, durable chunks and a journal record out.
//!
//! `recorder` is what the training process calls. It copies into `arena`, shared memory laid out by
//! `staged`, and sends a few bytes of `wire` through a `pipe`. At the other end `drain` hands each
//! command to `commit`, in a process of its own (`child`, started by `engine`), on a native thread,
//! or at once in the caller.
pub mod arena;
mod child;
pub mod commit;
pub mod drain;
pub mod engine;
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
