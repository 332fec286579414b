//! `florc._native.Leaves`: the raw bytes of a state, where they are.
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

/// Bytes of host memory that an object owns: they stay where they are while this is held, and may be read as long as nobody
/// writes to them. Only the readers of tensors and arrays make one, so that an address never comes without its owner.
#[pyclass(frozen, module = "florc._native")]
#[derive(Debug)]
pub struct MemoryLeaf {
    pub(super) address: usize,
    pub(super) len: usize,
    pub(super) owner: Py<PyAny>,
}

impl MemoryLeaf {
    pub(super) fn new(address: usize, len: usize, owner: Py<PyAny>) -> PyResult<MemoryLeaf> {
        if address == 0 && len > 0 {
            return Err(PyValueError::new_err("a leaf has no address"));
        }
        Ok(MemoryLeaf { address, len, owner })
    }

    /// The address of the first byte, and how many there are.
    pub fn span(&self) -> (usize, usize) {
        (self.address, self.len)
    }

    fn clone_ref(&self, py: Python<'_>) -> MemoryLeaf {
        MemoryLeaf { address: self.address, len: self.len, owner: self.owner.clone_ref(py) }
    }
}

#[pymethods]
impl MemoryLeaf {
    /// The elements of a tensor, or `nbytes` bytes from the byte `start` on.
    ///
    /// # Errors
    /// ValueError for one that is not in host memory, is not contiguous, or has fewer bytes.
    #[staticmethod]
    #[pyo3(signature = (tensor, start=0, nbytes=None))]
    fn of_tensor(tensor: &Bound<'_, PyAny>, start: usize, nbytes: Option<usize>) -> PyResult<MemoryLeaf> {
        let py = tensor.py();
        let dense: bool = tensor.call_method0(intern!(py, "is_contiguous"))?.extract()?;
        let count: usize = tensor.call_method0(intern!(py, "numel"))?.extract()?;
        let size: usize = tensor.call_method0(intern!(py, "element_size"))?.extract()?;
        let left = (count * size).checked_sub(start).filter(|left| nbytes.is_none_or(|nbytes| nbytes <= *left));
        let Some(left) = left.filter(|_| dense) else {
            return Err(PyValueError::new_err("only bytes of a contiguous tensor are a leaf"));
        };
        on_host(tensor)?;
        let address: usize = tensor.call_method0(intern!(py, "data_ptr"))?.extract()?;
        MemoryLeaf::new(address + start, nbytes.unwrap_or(left), tensor.clone().unbind())
    }

    /// The elements of a numpy array.
    ///
    /// # Errors
    /// ValueError for one that is not C-contiguous.
    #[staticmethod]
    #[pyo3(signature = (array, owner=None))]
    fn of_array(array: &Bound<'_, PyAny>, owner: Option<&Bound<'_, PyAny>>) -> PyResult<MemoryLeaf> {
        let py = array.py();
        if !array.getattr(intern!(py, "flags"))?.getattr(intern!(py, "c_contiguous"))?.extract::<bool>()? {
            return Err(PyValueError::new_err("only a C-contiguous array is a leaf"));
        }
        let interface = array.getattr(intern!(py, "__array_interface__"))?;
        let address: usize = interface.get_item(intern!(py, "data"))?.get_item(0)?.extract()?;
        MemoryLeaf::new(
            address,
            array.getattr(intern!(py, "nbytes"))?.extract()?,
            owner.unwrap_or(array).clone().unbind(),
        )
    }

    /// The bytes of a storage of torch.
    ///
    /// # Errors
    /// ValueError for one that is not in host memory.
    #[staticmethod]
    fn of_storage(storage: &Bound<'_, PyAny>) -> PyResult<MemoryLeaf> {
        let py = storage.py();
        on_host(storage)?;
        let address: usize = storage.call_method0(intern!(py, "data_ptr"))?.extract()?;
        let len: usize = storage.call_method0(intern!(py, "nbytes"))?.extract()?;
        MemoryLeaf::new(address, len, storage.clone().unbind())
    }

    /// The address of the first byte.
    #[getter]
    fn address(&self) -> usize {
        self.address
    }

    /// How many bytes there are.
    #[getter]
    fn nbytes(&self) -> usize {
        self.len
    }
}

fn on_host(memory: &Bound<'_, PyAny>) -> PyResult<()> {
    let device = memory.getattr(intern!(memory.py(), "device"))?.getattr(intern!(memory.py(), "type"))?;
    if device.eq("cpu")? { Ok(()) } else { Err(PyValueError::new_err(format!("memory of {device} is no leaf"))) }
}

/// Bytes of host memory, or what an encoder written in Python handed over: of a device, or bytes.
#[derive(Debug)]
pub(super) enum Leaf {
    Memory(MemoryLeaf),
    Given { leaf: Py<PyAny>, len: usize, owner: Option<usize> },
}

impl Leaf {
    /// The address of the object that a leaf holds because its memory is that object's.
    pub fn owner(&self) -> Option<usize> {
        match self {
            Leaf::Memory(memory) => Some(memory.owner.as_ptr() as usize),
            Leaf::Given { owner, .. } => *owner,
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Leaf::Memory(MemoryLeaf { len, .. }) | Leaf::Given { len, .. } => *len,
        }
    }
}

/// The leaves of one state, in index order: `MemoryLeaf`, `DeviceLeaf` or bytes.
#[pyclass(sequence, frozen, module = "florc._native")]
#[derive(Debug)]
pub struct Leaves {
    pub(super) leaves: Vec<Leaf>,
}

#[pymethods]
impl Leaves {
    fn __len__(&self) -> usize {
        self.leaves.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        match usize::try_from(index).ok().and_then(|index| self.leaves.get(index)) {
            Some(Leaf::Memory(memory)) => Ok(Bound::new(py, memory.clone_ref(py))?.into_any()),
            Some(Leaf::Given { leaf, .. }) => Ok(leaf.bind(py).clone()),
            None => Err(PyIndexError::new_err("no such leaf")),
        }
    }
}
