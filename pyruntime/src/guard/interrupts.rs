//! Notes that Ctrl-C came: a script that catches `KeyboardInterrupt` goes another way from there, and no replay is interrupted in the
//! same place. Signals for which a script has a handler of its own are not noted.
//!
//! What comes while florc works between two statements of the script (a checkpoint may take 80 ms) is held until the script goes on:
//! raised between two iterations it would miss the `try` inside the loop, where without florc it would hardly ever come. Who presses
//! twice is not held.
use std::cell::Cell;
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

thread_local! {
    /// How many pieces of florc's own work are under way on this thread.
    static HERE: Cell<usize> = const { Cell::new(0) };
}

/// Whether florc is at work on this thread: what is called now, the script does not call.
pub fn is_at_work() -> bool {
    HERE.get() != 0
}

/// How many pieces of florc's own work are under way, one within the other.
static WORKING: AtomicUsize = AtomicUsize::new(0);
/// Whether an interrupt waits for their end.
static WAITS: AtomicBool = AtomicBool::new(false);

/// Async-signal-safe.
extern "C" fn note(signal: libc::c_int) {
    if WORKING.load(Ordering::Acquire) == 0 || WAITS.swap(true, Ordering::AcqRel) {
        pass_on(signal);
    }
}

fn pass_on(signal: libc::c_int) {
    CAME.store(true, Ordering::Release);
    let theirs = THEIRS.load(Ordering::Acquire);
    if theirs != 0 {
        // SAFETY: what `sigaction` gave, of a handler without SA_SIGINFO: Python never unloads it
        let theirs: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(theirs) };
        theirs(signal);
    }
}

/// Work of florc on the way of the script: an interrupt waits until it is dropped.
pub struct Hold(());

impl Hold {
    pub fn new() -> Self {
        HERE.set(HERE.get() + 1);
        WORKING.fetch_add(1, Ordering::AcqRel);
        Self(())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        HERE.set(HERE.get().saturating_sub(1));
        if WORKING.fetch_sub(1, Ordering::AcqRel) == 1
            && WAITS.load(Ordering::Relaxed)
            && WAITS.swap(false, Ordering::AcqRel)
        {
            pass_on(libc::SIGINT);
        }
    }
}

/// The beginning of work for which Python holds interrupts; `release_interrupts` follows.
#[pyfunction]
pub fn hold_interrupts() {
    std::mem::forget(Hold::new());
}

/// The end of what `hold_interrupts` began.
#[pyfunction]
pub fn release_interrupts() {
    drop(Hold(()));
}

/// Called before the place changes: keeps it, if this is the first event since an interrupt came, and no other came before.
pub fn keep_place(path: impl FnOnce() -> String) {
    if CAME.load(Ordering::Relaxed) && CAME.swap(false, Ordering::AcqRel) {
        lock(&PATH).get_or_insert_with(path);
    }
}

/// Whether an interrupt came of which the place is not kept yet.
pub fn came() -> bool {
    CAME.load(Ordering::Relaxed)
}

/// Whether that is to be told.
pub fn is_place_kept() -> bool {
    lock(&PATH).is_some()
}

/// Where the program was when the first interrupt came; told once.
#[pyfunction]
pub fn interrupted_at() -> Option<String> {
    lock(&PATH).take()
}
