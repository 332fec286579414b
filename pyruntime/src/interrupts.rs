//! Notes that Ctrl-C came: a script that catches `KeyboardInterrupt` goes another way from there, and no replay is interrupted in the
//! same place. Signals for which a script has a handler of its own are not noted.
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pyo3::prelude::*;

use crate::locks::lock;

static CAME: AtomicBool = AtomicBool::new(false);
/// Python's own handler (of C), which is called as if it were there alone; 0 while nothing is watched.
static THEIRS: AtomicUsize = AtomicUsize::new(0);
/// Where in the loop nest the program was.
static PATH: Mutex<Option<String>> = Mutex::new(None);

/// Watches for SIGINT, where Python handles it. `signal.getsignal` and `signal.signal` see and do what they do without.
#[pyfunction]
pub fn watch_interrupts() {
    // SAFETY: plain structs of C; reading and replacing a handler has no other effect
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGINT, std::ptr::null(), &raw mut action) != 0
            || action.sa_flags & libc::SA_SIGINFO != 0
            || matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN)
        {
            return;
        }
        THEIRS.store(action.sa_sigaction, Ordering::Release);
        action.sa_sigaction = note as extern "C" fn(libc::c_int) as usize;
        libc::sigaction(libc::SIGINT, &raw const action, std::ptr::null_mut());
    }
}

/// Async-signal-safe.
extern "C" fn note(signal: libc::c_int) {
    CAME.store(true, Ordering::Release);
    let theirs = THEIRS.load(Ordering::Acquire);
    if theirs != 0 {
        // SAFETY: what `sigaction` gave, of a handler without SA_SIGINFO: Python never unloads it
        let theirs: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(theirs) };
        theirs(signal);
    }
}

/// Called before the place changes: keeps it, if this is the first event since an interrupt came, and no other came before.
pub fn keep_place(path: impl FnOnce() -> String) {
    if CAME.load(Ordering::Relaxed) && CAME.swap(false, Ordering::AcqRel) {
        lock(&PATH).get_or_insert_with(path);
    }
}

/// Where the program was when the first interrupt came; told once.
#[pyfunction]
pub fn interrupted_at() -> Option<String> {
    lock(&PATH).take()
}
