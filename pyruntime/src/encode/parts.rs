//! Where the bytes of a state are, for whoever copies them.
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use super::leaves::{Leaf, Leaves, MemoryLeaf};
use crate::materialize::staged::Part;

impl Leaves {
    /// Where the bytes are; what had to be copied for that goes into `held`.
    ///
    /// # Errors
    /// When a leaf is no bytes.
    fn parts<'py>(&self, py: Python<'py>, held: &mut Vec<Bound<'py, PyBytes>>) -> PyResult<Vec<Part>> {
        self.leaves
            .iter()
            .map(|leaf| match leaf {
                Leaf::Memory(memory) => Ok(Part { address: memory.address, len: memory.len }),
                Leaf::Given { leaf, .. } => part_of(leaf.bind(py), held),
            })
            .collect()
    }
}

/// The parts of `Leaves`, or of a list.
pub fn parts_of<'py>(leaves: &Bound<'py, PyAny>, held: &mut Vec<Bound<'py, PyBytes>>) -> PyResult<Vec<Part>> {
    if let Ok(leaves) = leaves.cast::<Leaves>() {
        return leaves.get().parts(leaves.py(), held);
    }
    leaves.try_iter()?.map(|leaf| part_of(&leaf?, held)).collect()
}

/// As [`parts_of`]; what a device has (`DeviceLeaf`) is elsewhere.
pub fn parts_and_remote_of<'py>(
    leaves: &Bound<'py, PyAny>,
    held: &mut Vec<Bound<'py, PyBytes>>,
) -> PyResult<Vec<Part>> {
    let part = |leaf: PyResult<Bound<'py, PyAny>>| {
        let leaf = leaf?;
        match leaf.getattr_opt("device")? {
            Some(_) => Ok(Part::elsewhere(leaf.getattr("nbytes")?.extract()?)),
            None => part_of(&leaf, held),
        }
    };
    leaves.try_iter()?.map(part).collect()
}

/// Memory is taken as it is, bytes are borrowed, anything else bytes-like is copied once more into `held`.
pub fn part_of<'py>(leaf: &Bound<'py, PyAny>, held: &mut Vec<Bound<'py, PyBytes>>) -> PyResult<Part> {
    if let Ok(memory) = leaf.cast::<MemoryLeaf>() {
        let memory = memory.get();
        return Ok(Part { address: memory.address, len: memory.len });
    }
    if let Ok(bytes) = leaf.cast::<PyBytes>() {
        return Ok(Part::of(bytes.as_bytes()));
    }
    // the stable ABI of Python 3.10 has no buffers, and a bytearray may change once the GIL is
    // released
    let view =
        PyMemoryView::from(leaf).map_err(|_| PyTypeError::new_err("a leaf must be a MemoryLeaf or bytes-like"))?;
    let bytes = view.call_method0("tobytes")?.cast_into::<PyBytes>()?;
    let part = Part::of(bytes.as_bytes());
    held.push(bytes);
    Ok(part)
}
