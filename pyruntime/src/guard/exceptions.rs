//! The store's errors as Python exceptions.
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
    module.add("InternalError", py.get_type::<InternalError>())?;
    module.add("StoreError", py.get_type::<StoreError>())?;
    module.add("DamagedError", py.get_type::<DamagedError>())
}
