//! Whose loops are followed: of one thread, while there is a session.
use pyo3::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

use crate::locks::lock;

/// Whether a session follows the loops of this process.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// The thread whose loops are followed: there is one loop nest.
static OWNER: Mutex<Option<ThreadId>> = Mutex::new(None);

/// Whether this call is to be followed. Checked before any lock is taken.
pub fn is_followed() -> bool {
    ACTIVE.load(Ordering::Acquire) && *lock(&OWNER) == Some(thread::current().id())
}

/// From [`begin`] on, the loops of this thread are followed.
pub fn take_this_thread() {
    *lock(&OWNER) = Some(thread::current().id());
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
