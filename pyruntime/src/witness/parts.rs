//! The attributes of objects, read without code of theirs.
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// The attributes of an object, whatever its class shows in their place.
pub(super) fn own_dict<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: the object is held; a new reference comes back, or an error where there is no such dict
    let found = unsafe {
        Bound::from_owned_ptr_or_err(value.py(), ffi::PyObject_GenericGetDict(value.as_ptr(), std::ptr::null_mut()))
    };
    found.ok()?.cast_into::<PyDict>().ok()
}

/// Every item of a dict. Nothing of Python's runs between two of them: no thread can change the dict meanwhile.
pub fn each_item<'py>(own: &Bound<'py, PyDict>, mut one: impl FnMut(Bound<'py, PyAny>, Bound<'py, PyAny>)) {
    let py = own.py();
    let mut position = 0;
    let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the dict is held, and `position` is only ever given to this call
    while unsafe { ffi::PyDict_Next(own.as_ptr(), &mut position, &mut key, &mut value) } != 0 {
        // SAFETY: they become owned references before anything else runs
        let (key, value) = unsafe { (Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value)) };
        one(key, value);
    }
}

/// Whether it is the key under which Python itself puts all of its own names.
pub fn is_pythons(key: &Bound<'_, PyAny>) -> bool {
    key.cast_exact::<PyString>().is_ok_and(|key| key.to_str().is_ok_and(|key| key == "__builtins__"))
}
