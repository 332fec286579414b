//! Values that the script takes from outside (clocks, entropy): kept while recording, given back in a replay at the same place.
//!
//! Functions of C have a stand-in for their code (`sources.rs`). For others, emitted code has `observed(time.time)()` for `time.time()`. What is called is looked at when it is called: for a function that
//! `florc/inputs/known.py` knows, something stands in that calls it and keeps what it returned. A value belongs to the path in the loop
//! nest at which it was taken, to the function, and to how many were taken there before: blocks that are skipped take theirs along.
mod askers;
pub mod callers;
mod clocks;
pub mod connections;
mod definitions;
mod descriptors;
pub mod elsewhere;
mod hashes;
pub mod inline;
pub mod observed;
pub mod orders;
mod pipes;
pub mod programs;
pub mod sources;
mod special;
pub mod values;
