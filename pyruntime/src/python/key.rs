//! The key that a journal is sealed with.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::store::journal::Key;

/// A key of 32 bytes.
pub(super) fn key_of(key: Option<&[u8]>) -> PyResult<Option<Key>> {
    let exact = |bytes: &[u8]| Key::try_from(bytes).map_err(|_| PyValueError::new_err("a key has 32 bytes"));
    key.map(exact).transpose()
}
