//! The store's errors as Python exceptions.
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

use crate::store::StoreError as Failure;

create_exception!(
    florc._native,
    StoreError,
    PyException,
    "The run store cannot be used: the message names the file and the reason."
);
create_exception!(
    florc._native,
    DamagedError,
    StoreError,
    "Stored bytes are not what was written: the message names them, the file and what is wrong."
);

create_exception!(
    florc._native,
    InternalError,
    PyException,
    "florc itself is at fault: the message says where. What the script does is not affected."
);

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

/// Panics are told by `guard`; with FLORC_DEBUG their place is printed, too.
fn be_quiet() {
    if std::env::var_os("FLORC_DEBUG").is_none() {
        std::panic::set_hook(Box::new(|_| ()));
    }
}

/// An error of the store as the exception for it.
pub fn raise(error: Failure) -> PyErr {
    let message = error.to_string();
    match error {
        Failure::Damaged(_) => DamagedError::new_err(message),
        Failure::BadName { .. } => PyValueError::new_err(message),
        _ => StoreError::new_err(message),
    }
}

/// Adds the exceptions to the module.
///
/// # Errors
/// When Python cannot add a name.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    be_quiet();
    module.add("InternalError", py.get_type::<InternalError>())?;
    module.add("StoreError", py.get_type::<StoreError>())?;
    module.add("DamagedError", py.get_type::<DamagedError>())
}
