//! `florc._native.Redirect`: stands in the place of a function of Python or of a library.
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTraceback, PyTuple};

/// A function that is called in the place of `original`.
///
/// As a built-in function, it shows in no traceback: frames of florc's own files at the head of an exception's traceback are
/// left out. It is pickled by its name, and an attribute that it lacks is the original's. With `binds` it is a method when it
/// is found in a class.
#[pyclass(module = "florc._native", frozen)]
pub struct Redirect {
    original: Py<PyAny>,
    call: Py<PyAny>,
    name: String,
    module: String,
    /// The folder whose files are florc's.
    own: String,
    binds: bool,
}

#[pymethods]
impl Redirect {
    #[new]
    #[pyo3(signature = (original, call, name, module, own, binds=false))]
    fn new(original: Py<PyAny>, call: Py<PyAny>, name: String, module: String, own: String, binds: bool) -> Redirect {
        Redirect { original, call, name, module, own, binds }
    }

    #[pyo3(signature = (*args, **options))]
    fn __call__(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        self.call.call(py, args, options).map_err(|error| self.without_own_frames(py, error))
    }

    fn __get__(
        slf: &Bound<'_, Self>,
        instance: &Bound<'_, PyAny>,
        _owner: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        if !slf.get().binds || instance.is_none() {
            return Ok(slf.clone().into_any().unbind());
        }
        let method = slf.py().import("types")?.getattr("MethodType")?;
        Ok(method.call1((slf, instance))?.unbind())
    }

    fn __getattr__(&self, py: Python<'_>, name: &Bound<'_, PyString>) -> PyResult<Py<PyAny>> {
        self.original.getattr(py, name)
    }

    fn __reduce__(&self) -> &str {
        &self.name
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.original.bind(py).repr().map(|text| text.to_string())
    }

    #[getter]
    fn __name__(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or_default()
    }

    #[getter]
    fn __qualname__(&self) -> &str {
        &self.name
    }

    #[getter]
    fn __module__(&self) -> &str {
        &self.module
    }

    #[getter]
    fn __wrapped__(&self, py: Python<'_>) -> Py<PyAny> {
        self.original.clone_ref(py)
    }
}

impl Redirect {
    fn without_own_frames(&self, py: Python<'_>, error: PyErr) -> PyErr {
        let mut at = error.traceback(py);
        while let Some(here) = at {
            if !self.is_own(&here).unwrap_or(false) {
                at = Some(here);
                break;
            }
            at = here.getattr("tb_next").ok().and_then(|next| next.cast_into::<PyTraceback>().ok());
        }
        error.set_traceback(py, at);
        error
    }

    fn is_own(&self, traceback: &Bound<'_, PyTraceback>) -> PyResult<bool> {
        let code = traceback.getattr("tb_frame")?.getattr("f_code")?;
        Ok(code.getattr("co_filename")?.extract::<String>()?.starts_with(&self.own))
    }
}
