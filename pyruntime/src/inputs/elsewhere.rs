//! What other threads of the script, and processes that it forked, take from outside: how often they did. It is not given back, as nobody
//! knows in which order they ask.
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use pyo3::ffi::PyObject;
use pyo3::prelude::*;

use super::callers::is_asked_by_script;
use super::definitions::{Call, Definition, StandIn};
use super::observed::{gives, in_added_statement, is_on, swallowed};
use crate::guard::interrupts::is_at_work;

/// A function that says what the kernel or Python has given out in this process: a port, the number of a thread. To give back what it
/// said would be no truth for what the script does with it.
pub(super) struct GivenOut(pub &'static Definition);

/// Modules that only hand on what they are asked for.
const BETWEEN: [&str; 2] = ["threading", "socket"];

impl StandIn for GivenOut {
    fn call(&self, call: Call) -> *mut PyObject {
        // SAFETY: the call came to the stand-in of this definition
        let plain = || unsafe { call.of(self.0) };
        if !is_on() || !gives() || is_at_work() || in_added_statement() {
            return plain();
        }
        // SAFETY: Python calls a function of C with the interpreter's lock held
        let py = unsafe { Python::assume_attached() };
        match swallowed(py, || is_asked_by_script(py, &BETWEEN)) {
            Ok(is_asked) => is_asked.unwrap_or_default().then(took),
            Err(error) => {
                error.restore(py);
                return std::ptr::null_mut();
            }
        };
        plain()
    }
}

/// In memory that forked processes share; null until there is any.
static TAKEN: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

fn taken() -> Option<&'static AtomicU64> {
    // SAFETY: it is never unmapped, and the kernel gave it as zeros
    unsafe { TAKEN.load(Ordering::Acquire).as_ref() }
}

/// Counts from now on. Where there is no memory to share, nothing is counted.
pub(super) fn begin() {
    if taken().is_some() {
        return;
    }
    let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, of no file
    let at = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<AtomicU64>(), protection, kind, -1, 0) };
    if at != libc::MAP_FAILED {
        TAKEN.store(at.cast(), Ordering::Release);
    }
}

/// One more; or a process began that florc does not see into.
#[pyfunction]
pub fn took_elsewhere() {
    took();
}

/// One more.
pub(super) fn took() {
    if let Some(taken) = taken() {
        taken.fetch_add(1, Ordering::Relaxed);
    }
}

/// How many values other threads of the script, and processes that it forked, took from outside so far.
#[pyfunction]
pub fn taken_elsewhere() -> u64 {
    taken().map_or(0, |taken| taken.load(Ordering::Relaxed))
}
