//! Whose loops are followed: of one thread, while there is a session.
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::locks::lock;

/// Whether a session follows the loops of this process.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// Counts the sessions.
static SESSION: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The session that follows the loops of this thread: of one thread, as there is one loop nest.
    static OWN: Cell<u64> = const { Cell::new(0) };
}

/// Whether this call is to be followed. Checked before any lock is taken.
pub fn is_followed() -> bool {
    ACTIVE.load(Ordering::Acquire) && OWN.get() == SESSION.load(Ordering::Relaxed)
}

/// From [`begin`] on, the loops of this thread are followed.
pub fn take_this_thread() {
    OWN.set(SESSION.fetch_add(1, Ordering::Relaxed) + 1);
}

/// Loops are followed.
pub fn begin() {
    ACTIVE.store(true, Ordering::Release);
}

/// Loops are followed no more. Takes no lock.
pub fn end() {
    ACTIVE.store(false, Ordering::Release);
}

/// What the session has put there to be called.
pub fn listener(py: Python<'_>, slot: &Mutex<Option<Py<PyAny>>>) -> Option<Py<PyAny>> {
    lock(slot).as_ref().map(|found| found.clone_ref(py))
}
