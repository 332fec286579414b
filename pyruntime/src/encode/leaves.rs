//! `florc._native.Leaves`: the raw bytes of a state, where they are.
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

/// Bytes of host memory that belong to an object, or what an encoder written in Python handed over.
#[derive(Debug)]
pub(super) enum Leaf {
    Memory { address: usize, len: usize, owner: Py<PyAny> },
    Given { leaf: Py<PyAny>, len: usize },
}

impl Leaf {
    pub fn len(&self) -> usize {
        match self {
            Leaf::Memory { len, .. } | Leaf::Given { len, .. } => *len,
        }
    }
}

/// The leaves of one state, in index order: `Leaf` (address, bytes, keepalive) or bytes.
#[pyclass(sequence, frozen, module = "florc._native")]
#[derive(Debug)]
pub struct Leaves {
    pub(super) leaves: Vec<Leaf>,
    /// Makes what Python sees of memory.
    pub(super) leaf_class: Py<PyAny>,
}

#[pymethods]
impl Leaves {
    fn __len__(&self) -> usize {
        self.leaves.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        match usize::try_from(index).ok().and_then(|index| self.leaves.get(index)) {
            Some(Leaf::Memory { address, len, owner }) => self.leaf_class.bind(py).call1((*address, *len, owner)),
            Some(Leaf::Given { leaf, .. }) => Ok(leaf.bind(py).clone()),
            None => Err(PyIndexError::new_err("no such leaf")),
        }
    }
}
