//! Locks that a panic does not poison for good, and the place where tests have florc panic.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks yet to be taken until one of them panics; below zero none does. See [`panic_at`].
static LEFT: AtomicI64 = AtomicI64::new(-1);

/// Takes a lock. What a thread that panicked left is as good as any: it is replaced when a session begins, or was whole.
pub fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    if LEFT.load(Ordering::Relaxed) >= 0 {
        assert!(LEFT.fetch_sub(1, Ordering::Relaxed) != 0, "a test has florc panic here");
    }
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// For tests: the n-th lock (from 0) that is taken from now on panics, in whatever native call that is. Returns how many were
/// left of the last such order.
pub fn panic_at(n: i64) -> i64 {
    LEFT.swap(n, Ordering::Relaxed)
}
