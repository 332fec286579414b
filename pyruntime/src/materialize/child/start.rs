//! The child that encodes one checkpoint: how it starts, and how it ends.
//!
//! It is cloned from a training process that may have other threads, which do not exist in it: a
//! lock that one of them held stays held for ever. So the kernel ends the child at a deadline, and
//! until it has shown that it can run Python at all the deadline is near.
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::process::{self, Process};
use super::slot::Slot;
use crate::materialize::wire::Refusal;

/// How long a child may take until it runs Python.
const START: Duration = Duration::from_secs(5);
/// How long a child that was killed may take to be gone.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// Starts a child that runs `encode`, which is told how to say that it has begun and answers to the
/// slot.
///
/// # Errors
/// When the operating system starts no process.
pub(in crate::materialize) fn start(
    slot: Slot<'_>,
    deadline: Duration,
    encode: impl FnOnce(&dyn Fn()),
) -> io::Result<i32> {
    let pid = process::clone_silently()?;
    if pid != 0 {
        return Ok(pid);
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        process::become_own(c"florc-encoder", &mut []);
        end_after(START.min(deadline));
        encode(&|| end_after(deadline));
    }));
    if outcome.is_err() {
        slot.refuse(Refusal::Elsewhere, "encoding it failed");
    }
    // SAFETY: ends this process at once; no destructor or exit handler of the script runs, and its
    // buffers are not written a second time
    unsafe { libc::_exit(0) }
}

/// Has the kernel end this process after so long; a later call replaces the deadline. The timer is
/// not inherited from the parent, and its signal has its default action here.
fn end_after(time: Duration) {
    let value = libc::timeval { tv_sec: time.as_secs() as libc::time_t, tv_usec: time.subsec_micros().max(1).into() };
    let timer = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: value };
    // SAFETY: the timer is ours, the old one is not asked for
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
}

/// A child that may still live, as its parent sees it.
#[derive(Debug)]
pub(in crate::materialize) struct Encoder {
    /// The checkpoint that it encodes.
    pub seq: u64,
    process: Process,
    ends: Instant,
}

impl Encoder {
    pub fn new(seq: u64, pid: i32, deadline: Duration) -> Encoder {
        Encoder { seq, process: Process::new(Some(pid)), ends: Instant::now() + deadline + LAST_BREATH }
    }

    /// Whether it still is a process; ends one that outlives its deadline.
    pub fn lives(&mut self) -> bool {
        self.process.reap();
        if Instant::now() > self.ends {
            self.process.kill();
        }
        self.process.is_known()
    }

    /// Lets it end by itself, for it has answered, and ends it when it does not. False when it is not
    /// gone by then.
    pub fn finish(&mut self) -> bool {
        self.process.reap_within(LAST_BREATH);
        self.end()
    }

    /// Ends it, if it has not. False when it is not gone by then.
    pub fn end(&mut self) -> bool {
        if self.lives() {
            self.process.kill();
            self.process.reap_within(LAST_BREATH);
        }
        !self.process.is_known()
    }
}

/// Pages that this process was given so far without a look at the disk.
pub(in crate::materialize) fn minor_faults() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: room for one rusage, which zeros are, too
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    u64::try_from(usage.ru_minflt).unwrap_or(0)
}

/// How many more pages than usual were touched while a child lived: memory that the two shared is
/// copied, or at least made writable again, at the parent's first write to each of its pages.
#[derive(Debug, Default)]
pub(in crate::materialize) struct Faults {
    /// Pages, and when they were counted: the beginning of a time with no child.
    quiet: Option<(u64, Instant)>,
    /// Pages at the clone, and when that was.
    forked: Option<(u64, Instant)>,
    /// Pages a second in the last time with no child that was long enough to tell.
    usual: f64,
}

/// A shorter time with no child says nothing of the script.
const TELLING: Duration = Duration::from_millis(200);

impl Faults {
    /// No child lives now.
    pub fn begin_quiet(&mut self) {
        self.quiet.get_or_insert_with(|| (minor_faults(), Instant::now()));
    }

    /// A child begins to live.
    pub fn fork(&mut self) {
        let (count, now) = (minor_faults(), Instant::now());
        if let Some((before, since)) = self.quiet.take()
            && now.duration_since(since) >= TELLING
        {
            self.usual = count.saturating_sub(before) as f64 / now.duration_since(since).as_secs_f64();
        }
        self.forked = Some((count, now));
    }

    /// The child's checkpoint was dealt with: pages above the usual number.
    pub fn join(&mut self) -> u64 {
        let Some((before, since)) = self.forked.take() else {
            return 0;
        };
        let count = minor_faults();
        self.quiet = Some((count, Instant::now()));
        count.saturating_sub(before).saturating_sub((self.usual * since.elapsed().as_secs_f64()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_those_of_the_time_with_a_child() {
        let mut faults = Faults::default();
        assert_eq!(faults.join(), 0);
        faults.begin_quiet();
        std::thread::sleep(Duration::from_millis(20));
        faults.fork();
        let touched = vec![1u8; 32 << 20];
        assert!(faults.join() > 4, "{}", touched.len());
    }
}
