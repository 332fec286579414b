//! The deferred check: what a replay logged, and what it held, against the record.

use crate::encode::parts_of;
use crate::materialize::staged::Part;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use similar::{Algorithm, DiffTag, capture_diff_slices};

/// One stretch in which two sequences differ: recorded lines `i1..i2` against replayed lines `j1..j2`.
type Stretch = (usize, usize, usize, usize);

/// Where two sequences of log lines differ.
#[pyfunction]
pub fn diff_lines(py: Python<'_>, recorded: Vec<String>, replayed: Vec<String>) -> Vec<Stretch> {
    py.detach(|| {
        capture_diff_slices(Algorithm::Myers, &recorded, &replayed)
            .into_iter()
            .filter(|op| op.tag() != DiffTag::Equal)
            .map(|op| {
                let (old, new) = (op.old_range(), op.new_range());
                (old.start, old.end, new.start, new.end)
            })
            .collect()
    })
}

/// The hashes that a checkpoint's chunks would have: of each leaf, in order.
#[pyfunction]
pub fn chunk_hashes(py: Python<'_>, leaves: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let mut held: Vec<Bound<'_, PyBytes>> = Vec::new();
    let parts = parts_of(leaves, &mut held)?;
    Ok(py.detach(|| parts.iter().map(|part| blake3::hash(bytes_of(part)).to_hex().to_string()).collect()))
}

fn bytes_of(part: &Part) -> &[u8] {
    if part.len == 0 {
        return &[];
    }
    // SAFETY: bytes objects live through the call; for addresses the caller keeps the memory alive.
    unsafe { std::slice::from_raw_parts(part.address as *const u8, part.len) }
}
