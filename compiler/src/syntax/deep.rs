//! Room for recursion: generated code nests deeper than a thread's usual stack.

use std::cell::Cell;

/// Enough for every walk over a tree of [`super::MAX_NESTING`] levels, with room to spare. Only what is used is paid for.
pub const DEEP_STACK: usize = 256 << 20;

thread_local! {
    /// How much stack this thread was given here.
    static GIVEN: Cell<usize> = const { Cell::new(0) };
}

/// Runs `work` on a thread that was given [`DEEP_STACK`] bytes of stack.
pub(super) fn deepened<T>(work: impl FnOnce() -> T) -> T {
    GIVEN.set(DEEP_STACK);
    work()
}

/// Runs `work` with at least `bytes` of stack.
///
/// # Panics
/// When `work` does.
pub fn on_deep_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if GIVEN.get() >= bytes {
        return work();
    }
    let mut slot = Some(work);
    let result = std::thread::scope(|scope| {
        let run = || {
            GIVEN.set(bytes);
            slot.take().map(|work| work())
        };
        std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, run).map(std::thread::ScopedJoinHandle::join)
    });
    match result {
        Ok(Ok(Some(value))) => value,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        // No thread to be had: the stack at hand is enough for all but the deepest files.
        Err(_) | Ok(Ok(None)) => match slot {
            Some(work) => work(),
            None => unreachable!("the thread ran the work and gave its value, or panicked"),
        },
    }
}
