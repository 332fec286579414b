//! A replay that stands still says where it is, and Ctrl-C ends it even where Python does not come round to it.
//!
//! A timer of the kernel sends the main thread a signal: no thread is started, of which Python would warn a script that forks. What
//! the handler tells of, `faulthandler` writes to a file in memory, since it can walk frames inside a handler, in a long call of C, too.
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Goes up with each iteration that is looked at, and each block.
static MOVES: AtomicU64 = AtomicU64::new(0);
/// What it was at the last tick.
static SEEN: AtomicU64 = AtomicU64::new(0);
/// Ticks since then.
static STILL: AtomicU32 = AtomicU32::new(0);
/// Handlers that were there: that of `faulthandler`, and Python's own of SIGINT.
static DUMP: AtomicUsize = AtomicUsize::new(0);
static INTERRUPT: AtomicUsize = AtomicUsize::new(0);
static IS_INTERRUPTED: AtomicU32 = AtomicU32::new(0);
/// The file in memory, and where florc speaks.
static FRAMES: AtomicI32 = AtomicI32::new(-1);
static SAID: AtomicI32 = AtomicI32::new(-1);
static TIMER: AtomicUsize = AtomicUsize::new(NONE);

/// The number of no timer: the first one is 0.
const NONE: usize = usize::MAX;
/// After a Ctrl-C, a replay has so long to end by itself.
const GRACE_S: u32 = 2;
const FRAMES_BYTES: usize = 8192;

/// The program went on.
pub fn moved() {
    MOVES.store(MOVES.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

fn signal() -> libc::c_int {
    libc::SIGRTMAX() - 3
}

/// The number of the signal for which `faulthandler` is to be registered before `watch_progress`.
#[pyfunction]
pub fn stall_signal() -> i32 {
    signal()
}

/// Says where the process is when nothing moved for so many seconds, and then after twice as many again and again. `frames`: the
/// file to which `faulthandler` writes; `said`: the descriptor to speak to.
///
/// # Errors
/// `OSError` where the kernel has no such timer.
#[pyfunction]
pub fn watch_progress(frames: i32, said: i32, seconds: u32) -> PyResult<()> {
    FRAMES.store(frames, Ordering::Release);
    SAID.store(said, Ordering::Release);
    SEEN.store(MOVES.load(Ordering::Relaxed), Ordering::Release);
    // SAFETY: plain structs of C; the handlers are functions of this library, which is never unloaded
    unsafe {
        wrap(signal(), &DUMP, tick)?;
        wrap(libc::SIGINT, &INTERRUPT, interrupted)?;
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal();
        event.sigev_notify_thread_id = libc::gettid();
        let mut timer: libc::timer_t = std::ptr::null_mut();
        if libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) != 0 {
            return Err(PyOSError::new_err(std::io::Error::last_os_error().to_string()));
        }
        TIMER.store(timer as usize, Ordering::Release);
        every(seconds);
    }
    Ok(())
}

/// Puts a handler in the place of one that is there; leaves one alone that ignores the signal, or takes more than its number.
///
/// # Safety
/// `handler` is async-signal-safe.
unsafe fn wrap(number: libc::c_int, theirs: &AtomicUsize, handler: extern "C" fn(libc::c_int)) -> PyResult<()> {
    // SAFETY: plain structs of C
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(number, std::ptr::null(), &raw mut action) != 0 {
            return Err(PyOSError::new_err(std::io::Error::last_os_error().to_string()));
        }
        if action.sa_flags & libc::SA_SIGINFO != 0 || matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) {
            return Ok(());
        }
        theirs.store(action.sa_sigaction, Ordering::Release);
        action.sa_sigaction = handler as usize;
        action.sa_flags |= libc::SA_RESTART;
        libc::sigaction(number, &raw const action, std::ptr::null_mut());
    }
    Ok(())
}

/// Async-signal-safe.
fn every(seconds: u32) {
    let timer = TIMER.load(Ordering::Acquire);
    if timer == NONE {
        return;
    }
    let time = libc::timespec { tv_sec: libc::time_t::from(seconds), tv_nsec: 0 };
    let spec = libc::itimerspec { it_interval: time, it_value: time };
    // SAFETY: a timer that `timer_create` gave
    unsafe { libc::timer_settime(timer as libc::timer_t, 0, &raw const spec, std::ptr::null_mut()) };
}

/// Async-signal-safe.
extern "C" fn interrupted(number: libc::c_int) {
    if SAID.load(Ordering::Acquire) >= 0 {
        IS_INTERRUPTED.store(1, Ordering::Release);
        every(GRACE_S);
    }
    call(&INTERRUPT, number);
}

fn call(theirs: &AtomicUsize, number: libc::c_int) {
    let theirs = theirs.load(Ordering::Acquire);
    if theirs != 0 {
        // SAFETY: what `sigaction` gave, of a handler without SA_SIGINFO: Python never unloads it
        let theirs: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(theirs) };
        theirs(number);
    }
}

/// Async-signal-safe.
extern "C" fn tick(number: libc::c_int) {
    // SAFETY: the address of this thread's `errno`
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above
    let before = unsafe { *errno };
    if IS_INTERRUPTED.load(Ordering::Acquire) == 1 {
        tell("interrupted at ", number, "");
        // SAFETY: ends the process
        unsafe { libc::_exit(130) };
    }
    let moves = MOVES.load(Ordering::Relaxed);
    if SEEN.swap(moves, Ordering::AcqRel) != moves {
        STILL.store(0, Ordering::Release);
    } else if (STILL.fetch_add(1, Ordering::AcqRel) + 1).is_power_of_two() {
        tell("no iteration has begun for a while; the replay is at ", number, " (Ctrl-C ends it)");
    }
    // SAFETY: as above
    unsafe { *errno = before };
}

/// Async-signal-safe: one line, `florc: {before}{place}{after}`.
fn tell(before: &str, number: libc::c_int, after: &str) {
    let (frames, said) = (FRAMES.load(Ordering::Acquire), SAID.load(Ordering::Acquire));
    let mut text = [0_u8; FRAMES_BYTES];
    // SAFETY: system calls on descriptors of florc's own, into a buffer of that size
    let count = unsafe {
        libc::ftruncate(frames, 0);
        libc::lseek(frames, 0, libc::SEEK_SET);
        call(&DUMP, number);
        libc::pread(frames, text.as_mut_ptr().cast(), FRAMES_BYTES, 0)
    };
    let text = &text[..usize::try_from(count).unwrap_or(0)];
    let mut line = Line { bytes: [0; 1024], used: 0 };
    line.add(b"florc: ");
    line.add(before.as_bytes());
    match innermost(text) {
        Some((file, at)) => {
            line.add(file);
            line.add(b":");
            line.add(at);
        }
        None => line.add(b"a place that Python does not know"),
    }
    line.add(after.as_bytes());
    line.add(b"\n");
    // SAFETY: a write of bytes that are there
    unsafe { libc::write(said, line.bytes.as_ptr().cast(), line.used) };
}

struct Line {
    bytes: [u8; 1024],
    used: usize,
}

impl Line {
    fn add(&mut self, more: &[u8]) {
        let room = self.bytes.len() - 1 - self.used;
        let more = &more[..more.len().min(room)];
        self.bytes[self.used..self.used + more.len()].copy_from_slice(more);
        self.used += more.len();
    }
}

/// The innermost frame in a text of `faulthandler`, of the user's files if there is one, else of a library, else of florc: file, and
/// the line with its function.
fn innermost(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let frames = || text.split(|&byte| byte == b'\n').filter_map(frame);
    let users = frames().find(|(file, _)| !has(file, b"/lib/python3") && !is_own(file));
    users.or_else(|| frames().find(|(file, _)| !is_own(file))).or_else(|| frames().next())
}

fn is_own(file: &[u8]) -> bool {
    has(file, b"/florc/") || file.starts_with(b"<")
}

fn has(file: &[u8], name: &[u8]) -> bool {
    file.windows(name.len()).any(|part| part == name)
}

/// `  File "train.py", line 12 in train`.
fn frame(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(b"  File \"")?;
    let end = rest.windows(8).position(|part| part == b"\", line ")?;
    Some((&rest[..end], &rest[end + 8..]))
}

#[cfg(test)]
mod tests {
    use super::innermost;

    #[test]
    fn the_innermost_frame_of_the_user_is_found() {
        let text = b"Current thread 0x1 (most recent call first):\n  File \"/a/florc/x.py\", line 3 in f\n  File \"/b/t \xe9.py\", line 12 in <module>\n";
        let found: (&[u8], &[u8]) = (b"/b/t \xe9.py", b"12 in <module>");
        assert_eq!(innermost(text), Some(found));
        assert_eq!(innermost(&text[..80]), Some((&b"/a/florc/x.py"[..], &b"3 in f"[..])));
        assert_eq!(innermost(b""), None);
    }
}
