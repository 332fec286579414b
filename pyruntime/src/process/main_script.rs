//! Runs the code of `__main__` with no frame of florc's Python between it and the interpreter.
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PySystemExit};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Calls `prepare()`, and `plainly(error)` where that raises. It returns an exit code, with which the process ends; `(error,)`, an exception with which it ends; or
/// `(code, names, ended)`: the code object is run with `names` as its globals, then `ended` is called with the exception that
/// it raised, or None, and the process ends as Python ends it.
///
/// # Errors
/// What `prepare` and `ended` raise, and what lets the process end with the right exit code.
#[pyfunction]
pub fn run_main(py: Python<'_>, prepare: Bound<'_, PyAny>, plainly: Bound<'_, PyAny>) -> PyResult<()> {
    let prepared = match prepare.call0() {
        Err(error) if error.is_instance_of::<PyException>(py) => plainly.call1((error.into_value(py),))?,
        prepared => prepared?,
    };
    drop(plainly);
    if let Ok(code) = prepared.extract::<i32>() {
        return Err(PySystemExit::new_err(code));
    }
    if let Ok((error,)) = prepared.extract::<(Bound<'_, PyAny>,)>() {
        return end(py, error);
    }
    let (code, names, ended): (Bound<'_, PyAny>, Bound<'_, PyDict>, Bound<'_, PyAny>) = prepared.extract()?;
    drop((prepared, prepare));
    // SAFETY: a code object and a dict, both held; the result is a new reference, or null with an exception set
    let result = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyEval_EvalCode(code.as_ptr(), names.as_ptr(), names.as_ptr()))
    };
    let is_module = names.get_item("__spec__").ok().flatten().is_some_and(|spec| !spec.is_none());
    drop((code, names));
    if !is_module {
        flush(py);
    }
    match result {
        Ok(_) => ended.call1((py.None(),)).map(|_| ()),
        Err(error) => {
            let error = error.into_value(py).into_bound(py).into_any();
            ended.call1((&error,))?;
            end(py, error)
        }
    }
}

/// What the interpreter does where a file has been run, before it prints how that ended.
fn flush(py: Python<'_>) {
    let Ok(sys) = py.import("sys") else { return };
    for name in ["stderr", "stdout"] {
        // closed, or None, or an object of the script's own that cannot: the interpreter does not mind either
        let _ = sys.getattr(name).and_then(|stream| stream.call_method0("flush"));
    }
}

/// Prints an exception as the interpreter does, and lets the process end as it would.
fn end(py: Python<'_>, error: Bound<'_, PyAny>) -> PyResult<()> {
    if error.is_instance_of::<PySystemExit>() {
        return Err(PyErr::from_value(error));
    }
    let launch = py.import("florc.project.script")?;
    let value = launch.call_method1("stripped", (&error,))?;
    let traceback = value.getattr("__traceback__")?;
    let traceback = if traceback.is_none() { std::ptr::null_mut() } else { traceback.into_ptr() };
    // SAFETY: the GIL is held; references are handed over to a call that takes them, the traceback may be null
    unsafe {
        ffi::PyErr_Restore(value.get_type().into_ptr(), value.into_ptr(), traceback);
        ffi::PyErr_PrintEx(1);
    }
    if error.is_instance_of::<PyKeyboardInterrupt>() {
        launch.call_method0("keep_last")?;
        return Err(PyErr::from_value(error));
    }
    Err(PySystemExit::new_err(1))
}
