//! What a weak proxy stands for, without asking it: every question goes to that object, and may run code of the user's.
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefProxy};

/// The object that a `weakref.proxy` stands for; None when it is gone.
///
/// # Errors
/// TypeError for anything else.
#[pyfunction]
pub fn referent<'py>(proxy: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(proxy.cast::<PyWeakrefProxy>()?.upgrade())
}
