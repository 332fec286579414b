//! The run store: plain files that survive crashes, are checked when read, and never escape their
//! folder.
//!
//! Knows nothing of Python. `layout` says where things are, `journal` and `pack` are the two file
//! formats, `index` finds a chunk by its hash, `fill` brings many to their places, `needed` says which chunks runs refer to,
//! `damage` what is damaged, `gc` removes what no run needs.
pub mod chunk;
pub mod damage;
pub mod durable;
pub mod error;
pub mod fill;
pub mod gc;
pub mod index;
pub mod journal;
pub mod layout;
pub mod needed;
pub mod pack;

pub use chunk::ChunkHash;
pub use error::{Damaged, Result, StoreError};
