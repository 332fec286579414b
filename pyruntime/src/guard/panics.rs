//! A panic in native code is an exception like any other when it reaches Python, and nothing at all on the way of the script.
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyException;
use pyo3::panic::PanicException;
use pyo3::prelude::*;

use super::exceptions::InternalError;
use super::interrupts::Hold;

/// Does the work; a panic becomes an `InternalError`, which unlike pyo3's `PanicException` an `except Exception` catches.
///
/// # Errors
/// What the work returns, and `InternalError`.
pub fn guard<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(InternalError::new_err(text.to_owned()))
    })
}

/// Tells of an error that the script does not notice (`florc.support.mishaps`).
///
/// # Errors
/// The error itself, where it is the script's: Ctrl-C, or what its handler of a signal raised in the middle of florc's work.
pub fn mishap(py: Python<'_>, what: &str, error: PyErr) -> PyResult<()> {
    let module = py.import("florc.support.mishaps")?;
    module.call_method1("swallowed", (what, error.into_value(py))).map(|_| ()) // which raises what is the script's
}

/// Does what only florc has use for, on the way of the script: where florc itself is at fault, that is counted
/// (`florc.support.mishaps`), and the script goes on with `otherwise`.
///
/// # Errors
/// What the work returns, unless florc is at fault.
pub fn harmless<T>(
    py: Python<'_>,
    what: &str,
    otherwise: impl FnOnce() -> T,
    work: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    let _held = Hold::new();
    match guard(work) {
        Err(error) if error.is_instance_of::<InternalError>(py) || error.is_instance_of::<PanicException>(py) => {
            mishap(py, what, error)?;
            Ok(otherwise())
        }
        result => result,
    }
}

/// A panic that no `guard` has caught reaches Python as pyo3's `PanicException`, a bare BaseException: from now on it is an
/// Exception, whatever native call it comes from.
///
/// # Errors
/// When Python refuses another base.
pub fn adopt_panics(py: Python<'_>) -> PyResult<()> {
    be_quiet();
    let panic = py.get_type::<PanicException>();
    panic.setattr("__bases__", (py.get_type::<PyException>(),))
}

/// Panics are told by `guard`; with FLORC_DEBUG their place is printed, too.
fn be_quiet() {
    if std::env::var_os("FLORC_DEBUG").is_none() {
        std::panic::set_hook(Box::new(|_| ()));
    }
}

/// For tests: the n-th lock that native code takes from now on panics (from 0); none does below zero. Returns how many were left
/// of the last such order.
#[pyfunction]
pub fn panic_at(n: i64) -> i64 {
    crate::locks::panic_at(n)
}
