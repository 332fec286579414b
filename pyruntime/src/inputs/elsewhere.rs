//! What other threads of the script, and processes that it forked, take from outside: how often they did. It is not given back, as nobody
//! knows in which order they ask.
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use pyo3::prelude::*;

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
