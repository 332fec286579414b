//! Sets of objects that hash by their addresses: who goes over one gets them in an order that is another one in each layout of
//! memory. Whoever does comes through `tp_iter` of `set` and `frozenset`: loops, comprehensions, `list`, `sorted`.
//!
//! A subclass has a slot of its own. One that is made in C, or that has `__iter__` of its own, gets its base's slot or calls
//! `__iter__` of its base; any other class takes what the wrapper `set.__iter__` holds (`d_wrapped`), not what is in the slot of
//! `set`. So both are changed, and the slots of the subclasses that are there already.
//!
//! Neither place is part of the limited API. Where they lie is the same from CPython 3.10 to 3.14, and looked at before they are
//! changed: they must hold what `PyType_GetSlot` says. Where they do not, nothing is changed, and no order is seen.
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use pyo3::ffi::{self, PyObject};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PySet, PyType};

use super::callers::is_asked_by_script;
use super::observed::{gives, is_on, swallowed};
use crate::encode::addresses::is_from_address;
use crate::guard::interrupts::is_at_work;
use crate::nest::owner::is_followed;

type Iter = unsafe extern "C" fn(*mut PyObject) -> *mut PyObject;

/// Where `tp_iter` lies in a type.
const TP_ITER: usize = 216;
/// Where a wrapper such as `set.__iter__` has the function of C.
const D_WRAPPED: usize = 48;
/// So many items are looked at.
const MOST: usize = 8;

/// What goes over a set, and over a frozen one.
static OWN: [AtomicPtr<()>; 2] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 2];
static IS_USED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn iter<const N: usize>(set: *mut PyObject) -> *mut PyObject {
    // SAFETY: it was put there before the slot pointed here, and is what the slot held
    let own = unsafe { std::mem::transmute::<*mut (), Iter>(OWN[N].load(Ordering::Acquire)) };
    if !IS_USED.load(Ordering::Relaxed) && is_on() && !gives() && is_followed() && !is_at_work() {
        // SAFETY: Python goes over a set with the interpreter's lock held
        let py = unsafe { Python::assume_attached() };
        // SAFETY: a live set; `own` makes an iterator of it
        if let Err(error) = swallowed(py, || unsafe { look(py, set, own) }) {
            error.restore(py);
            return std::ptr::null_mut();
        }
    }
    // SAFETY: the set lives as long as the call
    unsafe { own(set) }
}

/// # Safety
/// `set` is a set, and `own` makes an iterator of it.
unsafe fn look(py: Python<'_>, set: *mut PyObject, own: Iter) -> PyResult<()> {
    // SAFETY: as the caller says
    let items = unsafe {
        if ffi::PySet_Size(set) < 2 {
            return Ok(());
        }
        Bound::from_owned_ptr_or_err(py, own(set))?
    };
    // SAFETY: an iterator, which returns new references, and null at its end
    let next = || unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyIter_Next(items.as_ptr())) };
    let is_by_address = std::iter::from_fn(next).take(MOST).any(|item| is_from_address(&item));
    if is_by_address && is_asked_by_script(py, &[])? {
        IS_USED.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// Looks from now on at who goes over a set.
pub(super) fn begin(py: Python<'_>) -> PyResult<()> {
    let wanted = [(py.get_type::<PySet>(), iter::<0> as Iter), (py.get_type::<PyFrozenSet>(), iter::<1> as Iter)];
    for (at, (kind, ours)) in wanted.into_iter().enumerate() {
        // SAFETY: a live type
        let own = unsafe { ffi::PyType_GetSlot(kind.as_type_ptr(), ffi::Py_tp_iter).cast::<()>() };
        let wrapper = kind.getattr(intern!(py, "__iter__"))?;
        // SAFETY: a type, and a wrapper of one, are longer than that
        if own.is_null() || unsafe { !holds(kind.as_ptr(), TP_ITER, own) || !holds(wrapper.as_ptr(), D_WRAPPED, own) } {
            continue;
        }
        OWN[at].store(own, Ordering::Release);
        // SAFETY: they hold what goes over a set, as ours does; they are written to with the interpreter's lock held
        unsafe { put(wrapper.as_ptr(), D_WRAPPED, ours) };
        let mut kinds = vec![kind];
        while let Some(kind) = kinds.pop() {
            // SAFETY: as above
            unsafe {
                if holds(kind.as_ptr(), TP_ITER, own) {
                    put(kind.as_ptr(), TP_ITER, ours);
                }
            }
            for below in py.get_type::<PyType>().call_method1(intern!(py, "__subclasses__"), (&kind,))?.try_iter()? {
                kinds.extend(below?.cast_into::<PyType>().ok());
            }
        }
    }
    Ok(())
}

/// Whether an object holds this at this place.
///
/// # Safety
/// The object is longer than that.
unsafe fn holds(object: *mut PyObject, place: usize, what: *mut ()) -> bool {
    // SAFETY: as the caller says
    unsafe { *object.cast::<u8>().add(place).cast::<*mut ()>() == what }
}

/// # Safety
/// As for `holds`; at this place is what goes over a set, and the interpreter's lock is held.
unsafe fn put(object: *mut PyObject, place: usize, what: Iter) {
    // SAFETY: as the caller says
    unsafe { *object.cast::<u8>().add(place).cast::<*mut ()>() = what as *mut () };
}

/// Whether the script went over a set in the order of addresses.
#[pyfunction]
pub fn is_order_of_addresses_used() -> bool {
    IS_USED.load(Ordering::Relaxed)
}
