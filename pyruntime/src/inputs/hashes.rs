//! Whether a hash is computed from the address of an object: it is another number in every process.
use pyo3::prelude::*;

use crate::encode::addresses::{is_from_address, note_hash};

/// `hash(object)` was asked for, and is this: it is noted where it comes from an address.
pub fn asked(object: &Bound<'_, PyAny>, hash: &Bound<'_, PyAny>) -> PyResult<()> {
    if is_from_address(object) {
        note_hash(hash.extract()?);
    }
    Ok(())
}
