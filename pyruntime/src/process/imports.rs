//! How long the imports of libraries take: the user's own start-up, which neither a recording nor a replay can save.
use std::cell::Cell;
use std::sync::Mutex;
use std::time::Instant;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyType};

use crate::guard::panics::harmless;
use crate::inputs::sources::look_for_sources;
use crate::locks::lock;

/// Name of the module whose import began it, and seconds.
static TAKEN: Mutex<Vec<(String, f64)>> = Mutex::new(Vec::new());

thread_local! {
    /// Whether this thread is inside such an import: what a library imports itself is part of it.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Stands in the place of a loader's `exec_module` for one call. It is native, so that it is no line of a traceback.
#[pyclass(frozen, module = "florc._native")]
struct Timed {
    loader: Py<PyAny>,
    execute: Py<PyAny>,
    name: String,
}

#[pymethods]
impl Timed {
    fn __call__(&self, module: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = module.py();
        let _ = self.loader.bind(py).delattr(intern!(py, "exec_module")); // another may have put its own there
        IS_INSIDE.set(true);
        let begun = Instant::now();
        let done = self.execute.call1(py, (module,));
        IS_INSIDE.set(false);
        let seconds = begun.elapsed().as_secs_f64();
        harmless(
            py,
            "timing an import",
            || (),
            || {
                lock(&TAKEN).push((self.name.clone(), seconds));
                look_for_sources(py)
            },
        )?;
        done
    }
}

/// Take the time of an import that is about to happen, given what a finder found. Not inside another one.
#[pyfunction]
pub fn time_import(spec: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = spec.py();
    if IS_INSIDE.get() || spec.is_none() {
        return Ok(());
    }
    let loader = spec.getattr(intern!(py, "loader"))?;
    // Of a loader that is a class or a module, as Python's own for frozen modules, `exec_module` is everybody's.
    let is_object = !loader.is_instance_of::<PyType>() && !loader.is_instance_of::<PyModule>();
    let own = loader.getattr(intern!(py, "__dict__")).ok().and_then(|own| own.cast_into::<PyDict>().ok());
    let Some(own) = own.filter(|_| is_object) else { return Ok(()) };
    let Ok(execute) = loader.getattr(intern!(py, "exec_module")) else { return Ok(()) }; // a namespace package, or an old loader
    if own.contains(intern!(py, "exec_module"))? {
        return Ok(());
    }
    let timed = Timed {
        loader: loader.clone().unbind(),
        execute: execute.unbind(),
        name: spec.getattr(intern!(py, "name"))?.extract()?,
    };
    own.set_item(intern!(py, "exec_module"), timed)
}

/// Each import of a library by the script and its modules so far: the module's name, and seconds.
#[pyfunction]
pub fn import_seconds(py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
    harmless(py, "timing imports", Vec::new, || Ok(lock(&TAKEN).clone()))
}
