//! Which values do not change.
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyFloat, PyInt, PyString, PyTuple};

/// Tuples of numbers and texts are values: so deep, and of so many items, they are told apart by what is in them alone.
pub(super) const VALUE_DEPTH: usize = 3;
const VALUE_ITEMS: usize = 256;

/// Whether it is a number, a text, or a tuple of them: another one is bound, where it changes.
pub(super) fn is_fixed(value: &Bound<'_, PyAny>) -> bool {
    is_atom(value) || value.cast_exact::<PyTuple>().is_ok_and(|tuple| is_value(tuple, VALUE_DEPTH))
}

pub(super) fn is_value(tuple: &Bound<'_, PyTuple>, depth: usize) -> bool {
    depth > 0
        && tuple.len() <= VALUE_ITEMS
        && tuple.iter().all(|item| match item.cast_exact::<PyTuple>() {
            Ok(tuple) => is_value(tuple, depth - 1),
            Err(_) => is_atom(&item),
        })
}

fn is_atom(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyBytes>()
        || value.is_exact_instance_of::<PyComplex>()
}
