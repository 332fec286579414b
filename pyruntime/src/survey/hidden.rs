//! What an object of C keeps where no attribute shows it.
use std::hash::{DefaultHasher, Hasher};

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;

/// A hash of an object's own memory behind its header, which tells two states of one object apart. What lies elsewhere, and is only
/// pointed to, is not read. For classes of Python's own that nothing else tells of: one that is not used keeps every byte.
#[pyfunction]
pub fn hash_of_memory(obj: &Bound<'_, PyAny>) -> PyResult<i64> {
    let size: usize = obj.get_type().getattr(intern!(obj.py(), "__basicsize__"))?.extract()?;
    let header = size_of::<ffi::PyObject>();
    let mut hasher = DefaultHasher::new();
    let words = size.saturating_sub(header) / size_of::<usize>();
    // SAFETY: every object has as many bytes as its class says, and its header is a whole number of words
    let own = unsafe { obj.as_ptr().cast::<u8>().add(header).cast::<usize>() };
    for at in 0..words {
        // SAFETY: as above. What fills the gaps between two fields may be anything: the read is one that nothing is made of
        hasher.write_usize(unsafe { own.add(at).read_volatile() });
    }
    Ok(hasher.finish() as i64)
}
