//! Which functions were entered since when.
//!
//! Emitted code tells the number of a function that begins (`entered`). Each number has the time, by a clock that goes on where a
//! loop or a block begins, when that came last: so what was entered in a block, whatever ran inside it, is what came no earlier
//! than it began. The table is shared with forked children, which fill it, too.

use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Functions of files beyond that many do not tell.
const MOST: usize = 1 << 16;

#[repr(C)]
struct Table {
    clock: AtomicU64,
    /// How many were entered in another thread or process than that of the loops; each counts once.
    strays: AtomicU64,
    /// When each was entered last, and one; 0 for never.
    entered: [AtomicU64; MOST],
    elsewhere: [AtomicU64; MOST],
}

static TABLE: OnceLock<Option<&'static Table>> = OnceLock::new();
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread is the one whose loops are followed.
    static FOLLOWED: Cell<bool> = const { Cell::new(false) };
}

/// The table, once a function has a number.
fn table() -> Option<&'static Table> {
    TABLE.get().copied().flatten()
}

/// Pages that are all zeros until they are written, and that children share.
fn shared() -> Option<&'static Table> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping of that size, page-aligned, never unmapped; zeros are valid atomics
    unsafe {
        let at = libc::mmap(ptr::null_mut(), size_of::<Table>(), protection, flags | libc::MAP_NORESERVE, -1, 0);
        (at != libc::MAP_FAILED).then(|| &*at.cast::<Table>())
    }
}

/// Numbers for so many functions: the first one. None where there are no more.
pub fn numbers(count: usize) -> Option<usize> {
    if count == 0 {
        return Some(NEXT.load(Ordering::Relaxed));
    }
    (*TABLE.get_or_init(shared))?;
    let take = |next: usize| next.checked_add(count).filter(|end| *end <= MOST);
    NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()
}

/// From now on what this thread enters counts for the loops that run. `is_on`: false in a forked child.
pub fn follow_this_thread(is_on: bool) {
    FOLLOWED.with(|followed| followed.set(is_on));
}

/// A loop or a block begins: the time.
pub fn begins() -> u64 {
    table().map_or(0, |table| table.clock.fetch_add(1, Ordering::Relaxed) + 1)
}

/// The numbers of the functions that were entered since then, sorted; None where no function has one.
pub fn since(begun: u64) -> Option<Vec<usize>> {
    let table = table()?;
    let numbered = &table.entered[..NEXT.load(Ordering::Relaxed)];
    let is_later = |(_, at): &(usize, &AtomicU64)| at.load(Ordering::Relaxed) > begun;
    numbered.iter().enumerate().filter(is_later).map(|(number, _)| number).collect::<Vec<_>>().into()
}

/// A function of the script begins: `entered(number)`. Without pyo3's frame around it: that takes longer than the work.
///
/// # Errors
/// When Python has no memory.
pub fn entered(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static mut METHOD: ffi::PyMethodDef = ffi::PyMethodDef {
        ml_name: c"entered".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: told },
        ml_flags: ffi::METH_O,
        ml_doc: c"A function of the script begins; its number.".as_ptr(),
    };
    // SAFETY: the definition lives as long as the process, and nobody changes it; the module of a function may be missing
    unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyCFunction_NewEx(&raw mut METHOD, ptr::null_mut(), ptr::null_mut()))
    }
}

/// Cannot fail, and calls nothing that runs Python.
unsafe extern "C" fn told(_module: *mut ffi::PyObject, number: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: called by Python, which holds the GIL, with an object; None lives as long as Python does
    unsafe {
        let number = ffi::PyLong_AsSize_t(number);
        if number == usize::MAX {
            ffi::PyErr_Clear();
        }
        note(number);
        let none = ffi::Py_None();
        ffi::Py_INCREF(none);
        none
    }
}

fn note(number: usize) {
    let Some(table) = table() else { return };
    let Some(slot) = table.entered.get(number) else { return };
    slot.store(table.clock.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    if !FOLLOWED.with(Cell::get) && table.elsewhere[number].swap(1, Ordering::Relaxed) == 0 {
        table.strays.fetch_add(1, Ordering::Release);
    }
}

/// The functions that were entered in other threads or forked children; None where there are no more of them than `known`.
#[pyfunction]
pub fn entered_elsewhere(known: u64) -> Option<Vec<usize>> {
    let table = table()?;
    if table.strays.load(Ordering::Acquire) == known {
        return None;
    }
    let numbered = &table.elsewhere[..NEXT.load(Ordering::Relaxed)];
    let found = numbered.iter().enumerate().filter(|(_, was)| was.load(Ordering::Relaxed) != 0);
    Some(found.map(|(number, _)| number).collect())
}
