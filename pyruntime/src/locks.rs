//! Locks that a panic does not poison for good, and the place where tests have florc panic.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Locks yet to be taken until one of them panics; below zero none does. See [`panic_at`].
static LEFT: AtomicI64 = AtomicI64::new(-1);

/// Takes a lock. What a thread that panicked left is as good as any: it is replaced when a session begins, or was whole.
pub fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    if LEFT.load(Ordering::Relaxed) >= 0 {
        assert!(LEFT.fetch_sub(1, Ordering::Relaxed) != 0, "a test has florc panic here");
    }
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until something has changed, at most so long where there is a limit; the lock is given up meanwhile.
pub fn wait<'a, T>(changed: &Condvar, held: MutexGuard<'a, T>, limit: Option<Duration>) -> MutexGuard<'a, T> {
    match limit {
        None => changed.wait(held).unwrap_or_else(PoisonError::into_inner),
        Some(limit) => changed.wait_timeout(held, limit).unwrap_or_else(PoisonError::into_inner).0,
    }
}

/// For tests: the n-th lock (from 0) that is taken from now on panics, in whatever native call that is. Returns how many were
/// left of the last such order.
pub fn panic_at(n: i64) -> i64 {
    LEFT.swap(n, Ordering::Relaxed)
}
