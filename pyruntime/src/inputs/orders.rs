//! Sets of objects that hash by their addresses: who goes over one gets them in an order that is another one in each layout of
//! memory. Whoever does comes through `tp_iter` of `set` and `frozenset`: loops, comprehensions, `list`, `sorted`.
//!
//! The slot is no part of the limited API. Where it lies is the same from CPython 3.10 to 3.14, and looked at before it is changed: it
//! must hold what `PyType_GetSlot` says. Where it does not, nothing is changed, and no order is seen.
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

use super::callers::is_asked_by_script;
use super::observed::{gives, is_on, swallowed};
use crate::encode::addresses::is_from_address;
use crate::guard::interrupts::is_at_work;
use crate::nest::owner::is_followed;

type Iter = unsafe extern "C" fn(*mut PyObject) -> *mut PyObject;

/// Where `tp_iter` lies in a type.
const TP_ITER: usize = 216;
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
pub(super) fn begin() {
    let wanted: [(*mut ffi::PyTypeObject, Iter); 2] =
        [(&raw mut ffi::PySet_Type, iter::<0>), (&raw mut ffi::PyFrozenSet_Type, iter::<1>)];
    for (at, (kind, ours)) in wanted.into_iter().enumerate() {
        // SAFETY: a type is longer than that; it is written to while the interpreter's lock is held, and only where it holds the slot
        unsafe {
            let slot = kind.cast::<u8>().add(TP_ITER).cast::<*mut ()>();
            let own = ffi::PyType_GetSlot(kind, ffi::Py_tp_iter).cast::<()>();
            if !own.is_null() && *slot == own {
                OWN[at].store(own, Ordering::Release);
                *slot = ours as *mut ();
            }
        }
    }
}

/// Whether the script went over a set in the order of addresses.
#[pyfunction]
pub fn is_order_of_addresses_used() -> bool {
    IS_USED.load(Ordering::Relaxed)
}
