//! Classes of `florc._native` that recording does not name: each is made when it is first asked for. Making all of them would be
//! a noticeable part of what a short recording takes to start.
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::record;
use super::recorder::PyDone;
use crate::project::changes::{Change, Changes, Function};

/// The module's `__getattr__`. Raises AttributeError for other names.
#[pyfunction]
#[pyo3(name = "__getattr__", pass_module)]
pub fn late<'py>(module: &Bound<'py, PyModule>, name: &str) -> PyResult<Bound<'py, PyType>> {
    let py = module.py();
    let class = match name {
        "Change" => py.get_type::<Change>(),
        "Done" => py.get_type::<PyDone>(),
        "Changes" => py.get_type::<Changes>(),
        "Function" => py.get_type::<Function>(),
        _ => record::class(py, name)
            .ok_or_else(|| PyAttributeError::new_err(format!("module 'florc._native' has no attribute '{name}'")))?,
    };
    // found there from now on
    module.setattr(name, &class)?;
    Ok(class)
}
