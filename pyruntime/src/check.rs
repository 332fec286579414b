//! The deferred check: what a replay logged, and what it held, against the record.

use crate::recorder::part_of;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
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

/// The hashes that a checkpoint's chunks would have: of each leaf, `(address, bytes)` or bytes-like, in order.
#[pyfunction]
pub fn chunk_hashes(py: Python<'_>, leaves: &Bound<'_, PyList>) -> PyResult<Vec<String>> {
    let mut held: Vec<Bound<'_, PyBytes>> = Vec::new();
    let mut parts = Vec::with_capacity(leaves.len());
    for leaf in leaves.iter() {
        parts.push(part_of(&leaf, &mut held)?);
    }
    Ok(py.detach(|| {
        parts
            .iter()
            // SAFETY: bytes objects live through the call; for addresses the caller keeps the memory alive.
            .map(|part| match part.len {
                0 => blake3::hash(&[]),
                len => blake3::hash(unsafe { std::slice::from_raw_parts(part.address as *const u8, len) }),
            })
            .map(|hash| hash.to_hex().to_string())
            .collect()
    }))
}
