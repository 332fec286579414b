//! How much room a checkpoint takes, in staging memory and on disk.
use pyo3::prelude::*;

use crate::materialize::staged;
use crate::store::pack;

/// Bytes of a pack at most.
#[pyfunction]
pub fn most_packed(nbytes: u64, chunks: u64) -> u64 {
    pack::most_packed(nbytes, chunks)
}

/// Bytes of staging memory at most.
#[pyfunction]
pub fn most_staged(header: usize, parts: usize, nbytes: usize) -> usize {
    staged::most_staged(header, parts, nbytes)
}
