//! Long lists and tuples of nothing but floats, or nothing but 64-bit integers: one leaf, made in one pass.
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyList, PyTuple};

use super::addresses::may_be_address;
use super::walk::Walk;

/// Bytes of a number.
const ITEM: usize = 8;

/// The numbers as bytes, little-endian, and `d` or `q` for what they are; `None` where something else is among them, or an integer
/// that has no room.
pub(super) fn packed<'py>(
    walk: &Walk,
    numbers: &Bound<'py, PyAny>,
) -> PyResult<Option<(Bound<'py, PyBytes>, &'static str)>> {
    let py = numbers.py();
    let (len, is_list) = match (numbers.cast::<PyList>(), numbers.cast::<PyTuple>()) {
        (Ok(list), _) => (list.len(), true),
        (_, Ok(tuple)) => (tuple.len(), false),
        _ => return Ok(None),
    };
    let item = |index: usize| {
        // SAFETY: the index is below the length, which does not change: nothing here runs Python code. The reference is borrowed
        // from the list, which is held.
        unsafe {
            let index = index as ffi::Py_ssize_t;
            let item = if is_list {
                ffi::PyList_GetItem(numbers.as_ptr(), index)
            } else {
                ffi::PyTuple_GetItem(numbers.as_ptr(), index)
            };
            Borrowed::from_ptr_or_err(py, item)
        }
    };
    let is_float = len > 0 && item(0)?.is_exact_instance_of::<PyFloat>();
    let mut is_pure = true;
    let bytes = PyBytes::new_with(py, len * ITEM, |bytes| {
        for (index, target) in bytes.as_chunks_mut::<ITEM>().0.iter_mut().enumerate() {
            let number = item(index)?;
            let found = if is_float {
                number.cast_exact::<PyFloat>().ok().map(|float| float.value().to_le_bytes())
            } else {
                integer(&number).map(|integer| {
                    if may_be_address(integer) {
                        walk.note_number(integer);
                    }
                    integer.to_le_bytes()
                })
            };
            let Some(found) = found else {
                is_pure = false;
                break;
            };
            *target = found;
        }
        Ok::<_, PyErr>(())
    })?;
    if bytes.as_bytes().len() != len * ITEM {
        return Err(PyValueError::new_err("a list changed while it was copied"));
    }
    Ok(is_pure.then_some((bytes, if is_float { "d" } else { "q" })))
}

/// An exact int of at most 64 bits.
fn integer(number: &Borrowed<'_, '_, PyAny>) -> Option<i64> {
    let number = number.cast_exact::<PyInt>().ok()?;
    let mut overflow = 0;
    // SAFETY: an exact int, which is held; the call sets no error for those
    let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(number.as_ptr(), &mut overflow) };
    (overflow == 0).then_some(value)
}
