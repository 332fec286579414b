//! The writer process: how it starts, and what it lets go of. Also what it shares with other
//! processes of ours.
//!
//! It is cloned from the training process before that has threads, so memory allocation works in
//! it. It never touches Python.
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::materialize::arena::Mapping;
use crate::materialize::commit::Committer;
use crate::materialize::drain::{drain, send};
use crate::materialize::pipe::Ends;
use crate::materialize::wire::Reply;

/// Signals that end the training process must not end the writer before it has drained. Without
/// SIGXFSZ and SIGPIPE, files that grow too large and readers that are gone are errors like others.
const IGNORED: [i32; 6] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE, libc::SIGXFSZ];
const LAST_SIGNAL: i32 = 64;
const PANICKED: i32 = 70;
/// Added to the script's own. A tenth of a core is left to the writer where every core is in use: it falls behind, but it does
/// not stand still.
const NICENESS: i32 = 10;

/// Whether this process has one thread only. False when that cannot be known.
pub(in crate::materialize) fn single_threaded() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

/// Starts the writer process and returns its id. It sends no SIGCHLD and `wait()` does not see it,
/// so a script that handles or waits for children of its own is not disturbed.
///
/// # Errors
/// When the operating system starts no process.
pub(in crate::materialize) fn start(ends: &Ends, arena: &Mapping, committer: &mut Committer) -> io::Result<i32> {
    // SAFETY: getpid always succeeds and touches no memory
    let parent = unsafe { libc::getpid() };
    let pid = clone_silently()?;
    if pid == 0 {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let keep = [ends.commands_out.fd(), ends.replies_in.fd(), ends.bell_out.fd(), Ok(committer.as_raw_fd())];
            become_own(c"florc-writer", &mut keep.into_iter().flatten().collect::<Vec<RawFd>>());
            give_way();
            send(&ends.replies_in, &Reply::Ready);
            drain(ends, arena, committer, Some(parent));
        }));
        // SAFETY: ends this process at once; no destructor or exit handler of the script runs
        unsafe { libc::_exit(if outcome.is_ok() { 0 } else { PANICKED }) };
    }
    Ok(pid)
}

/// A copy of this process, as by fork, that sends no signal when it ends; 0 in the copy. There all
/// signals are blocked, and only the calling thread exists: a lock that another one held is never
/// given back. No handler of `pthread_atfork` or `os.register_at_fork` runs.
///
/// # Errors
/// When the operating system starts no process.
pub(in crate::materialize) fn clone_silently() -> io::Result<i32> {
    let mut old = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // a handler of the script must not run in the new process: signals wait until it has none
    // SAFETY: both sets are ours, the second is filled by the call
    unsafe {
        let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), old.as_mut_ptr());
    }
    // SAFETY: no flags and no stack: a copy of this process, as by fork, with 0 as the signal of
    // its end
    let pid = unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) };
    if pid == 0 {
        return Ok(0);
    }
    let error = io::Error::last_os_error();
    // SAFETY: `old` was filled above
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old.as_ptr(), std::ptr::null_mut()) };
    i32::try_from(pid).ok().filter(|pid| *pid > 0).ok_or(error)
}

/// Lets go of everything that is the script's but its memory: signals, files, session, folder.
pub(in crate::materialize) fn become_own(name: &CStr, keep: &mut [RawFd]) {
    keep.sort_unstable();
    // if memory runs out, the checkpoint goes and the training stays. Refusal is no reason to stop.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    // SAFETY: plain system calls on this process, which has one thread; the strings end with a zero
    unsafe {
        // out of reach of Ctrl-C and of the shell's hang-up. A session of its own would also be a group of its own to the
        // scheduler ("autogroup"), with half the processor whatever its priority is.
        libc::setpgid(0, 0);
        for signal in 1..=LAST_SIGNAL {
            let action = if IGNORED.contains(&signal) { libc::SIG_IGN } else { libc::SIG_DFL };
            libc::signal(signal, action);
        }
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        libc::prctl(libc::PR_SET_NAME, name.as_ptr());
        libc::chdir(c"/".as_ptr());
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        // whoever reads the script's output must see its end when the script ends
        (0..3).filter(|fd| !keep.contains(fd)).for_each(|fd| {
            libc::dup2(nothing, fd);
        });
    }
    close_others(keep);
}

/// The script's threads come first. Where they use every core and wait for each other, as OpenMP's do, a thread that has to wait
/// for its core holds up all of them: they lose twice what the writer takes.
fn give_way() {
    // SAFETY: a plain system call on this process
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS) };
}

/// Closes every descriptor from 3 on but those to keep, which are sorted.
fn close_others(keep: &[RawFd]) {
    let mut first = 3;
    for fd in keep.iter().copied().filter(|fd| *fd >= 3).chain([RawFd::MAX]) {
        if first < fd {
            close_range(first, fd - 1);
        }
        first = fd.saturating_add(1);
    }
}

fn close_range(first: RawFd, last: RawFd) {
    // SAFETY: nothing in this process uses these descriptors any more
    if unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } == 0 {
        return;
    }
    // kernels before 5.9
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<RawFd> = open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for fd in open.into_iter().filter(|fd| (first..=last).contains(fd)) {
        // SAFETY: as above
        unsafe { libc::close(fd) };
    }
}

/// A process of this process, to be reaped once.
#[derive(Debug)]
pub(in crate::materialize) struct Process(Option<i32>);

impl Process {
    /// `None` stands for a writer that is no process.
    pub fn new(pid: Option<i32>) -> Process {
        Process(pid)
    }

    /// Whether it was not reaped yet, so that its number is its own.
    pub fn is_known(&self) -> bool {
        self.0.is_some()
    }

    /// Ends it. Nothing happens once it is reaped.
    pub fn kill(&self) {
        if let Some(pid) = self.0 {
            // SAFETY: a plain system call; the number is our child's until we reap it
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
    }

    /// How the process ended, if it has by now.
    pub fn reap(&mut self) -> Option<String> {
        let ending = ended(self.0?)?;
        // its number may be another process's from now on
        self.0 = None;
        Some(ending)
    }

    /// How the process ended, if it does within so long.
    pub fn reap_within(&mut self, time: Duration) -> Option<String> {
        let start = Instant::now();
        while self.0.is_some() {
            let ending = self.reap();
            if ending.is_some() || start.elapsed() >= time {
                return ending;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }
}

fn ended(pid: i32) -> Option<String> {
    let mut status = 0;
    // SAFETY: room for one status, as the call wants
    let found = unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG | libc::__WALL) };
    if found == 0 {
        None
    } else if found < 0 {
        Some("it was reaped by someone else".to_string())
    } else if libc::WIFSIGNALED(status) {
        Some(format!("it was ended by signal {}", libc::WTERMSIG(status)))
    } else {
        Some(format!("it ended with status {}", libc::WEXITSTATUS(status)))
    }
}
