//! What an object of fixed size holds within itself, as bytes: random generators of C code keep their state there.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyType};

/// The bytes of `object` from `start` on, counted from its address. Raises ValueError for a range that is not within what every
/// object of its type has, and for the object's head, in which its references are counted.
#[pyfunction]
pub fn inline_bytes<'py>(object: &Bound<'py, PyAny>, start: usize, length: usize) -> PyResult<Bound<'py, PyBytes>> {
    let py = object.py();
    let size = basicsize(object)?;
    let head = size_of::<pyo3::ffi::PyObject>();
    if start < head || start.checked_add(length).is_none_or(|end| end > size) {
        return Err(PyValueError::new_err(format!("bytes {start} to {start} + {length} of an object of {size} bytes")));
    }
    // SAFETY: an instance has at least `tp_basicsize` bytes, the interpreter's lock is held, and the range was checked
    let bytes = unsafe { std::slice::from_raw_parts(object.as_ptr().cast::<u8>().add(start), length) };
    Ok(PyBytes::new(py, bytes))
}

/// `tp_basicsize`, whatever the class of the object says of itself.
fn basicsize(object: &Bound<'_, PyAny>) -> PyResult<usize> {
    static OF_TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let descriptor = OF_TYPE.get_or_try_init(py, || {
        let names = py.get_type::<PyType>().getattr("__dict__")?;
        names.get_item("__basicsize__").map(Bound::unbind)
    })?;
    descriptor.bind(py).call_method1("__get__", (object.get_type(),))?.extract()
}
