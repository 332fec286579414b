//! Runs the code of `__main__` with no frame of florc's Python between it and the interpreter.
use pyo3::exceptions::PySystemExit;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Calls `prepare()`. It returns an exit code, with which the process ends, or `(code, names, ended)`: the code object is run
/// with `names` as its globals, and then `ended` is called with the exception that it raised, or None.
///
/// # Errors
/// What `prepare` and `ended` raise.
#[pyfunction]
pub fn run_main(py: Python<'_>, prepare: Bound<'_, PyAny>) -> PyResult<()> {
    let prepared = prepare.call0()?;
    if let Ok(code) = prepared.extract::<i32>() {
        return Err(PySystemExit::new_err(code));
    }
    let (code, names, ended): (Bound<'_, PyAny>, Bound<'_, PyDict>, Bound<'_, PyAny>) = prepared.extract()?;
    drop((prepared, prepare));
    // SAFETY: a code object and a dict, both held; the result is a new reference, or null with an exception set
    let result = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyEval_EvalCode(code.as_ptr(), names.as_ptr(), names.as_ptr()))
    };
    drop((code, names));
    let error = result.err().map(|error| error.into_value(py));
    ended.call1((error,)).map(|_| ())
}
