//! Whether a hash is computed from the address of an object: it is another number in every process.
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PyTuple};

use crate::encode::addresses::note_hash;

/// Tuples in tuples are looked through so deep.
const DEPTH: u32 = 4;

/// `hash(object)` was asked for, and is this: it is noted where it comes from an address.
pub fn asked(object: &Bound<'_, PyAny>, hash: &Bound<'_, PyAny>) -> PyResult<()> {
    if is_from_address(object, DEPTH) {
        note_hash(hash.extract()?);
    }
    Ok(())
}

fn is_from_address(object: &Bound<'_, PyAny>, depth: u32) -> bool {
    if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        return depth > 0 && tuple.iter().any(|item| is_from_address(&item, depth - 1));
    }
    if let Ok(set) = object.cast_exact::<PyFrozenSet>() {
        return depth > 0 && set.iter().any(|item| is_from_address(&item, depth - 1));
    }
    // SAFETY: both are types, which are alive; a slot is only compared
    unsafe {
        let own = ffi::PyType_GetSlot(ffi::Py_TYPE(object.as_ptr()), ffi::Py_tp_hash);
        own == ffi::PyType_GetSlot(&raw mut ffi::PyBaseObject_Type, ffi::Py_tp_hash)
    }
}
