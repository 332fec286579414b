//! The ends of the pipes between the training process and the writer.
use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, Ordering};

/// Scripts close low descriptors by number; ours are above these when the limits allow.
const LOWEST_FD: i32 = 200;
const SIZE: i32 = 1 << 20;

/// One end of a pipe. Before each use it makes sure that its number still means this pipe: a script
/// may have closed it and opened a file of its own under the same number, and that file must not be
/// touched.
#[derive(Debug)]
pub struct PipeEnd {
    fd: AtomicI32,
    identity: (u64, u64),
}

/// The four ends: commands go to the writer, replies come back.
#[derive(Debug)]
pub struct Ends {
    /// The writer reads commands here. The training process keeps it open too: writing to a pipe
    /// that nobody reads would raise SIGPIPE, which ends a script that has reset it to its default.
    pub commands_out: PipeEnd,
    /// The training process writes commands here, without blocking.
    pub commands_in: PipeEnd,
    /// The training process reads replies here, without blocking.
    pub replies_out: PipeEnd,
    /// The writer writes replies here.
    pub replies_in: PipeEnd,
}

impl Ends {
    /// Two new pipes, closed on exec.
    ///
    /// # Errors
    /// When the operating system has no more descriptors.
    pub fn new() -> io::Result<Ends> {
        let (commands_out, commands_in) = pipe()?;
        let (replies_out, replies_in) = pipe()?;
        commands_in.no_blocking()?;
        replies_out.no_blocking()?;
        Ok(Ends { commands_out, commands_in, replies_out, replies_in })
    }

    /// Closes all four.
    pub fn close(&self) {
        let Ends { commands_out, commands_in, replies_out, replies_in } = self;
        [commands_out, commands_in, replies_out, replies_in].into_iter().for_each(PipeEnd::close);
    }
}

/// What [`PipeEnd::wait`] waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Something to read, or the end.
    Readable,
    /// Room to write.
    Writable,
}

impl PipeEnd {
    fn adopt(fd: RawFd) -> io::Result<PipeEnd> {
        let identity = identity(fd)?;
        Ok(PipeEnd { fd: AtomicI32::new(fd), identity })
    }

    /// The descriptor, if it still is this pipe.
    ///
    /// # Errors
    /// When it was closed.
    pub fn fd(&self) -> io::Result<RawFd> {
        let fd = self.fd.load(Ordering::Acquire);
        match identity(fd) {
            Ok(found) if found == self.identity => Ok(fd),
            _ => Err(io::Error::other("the pipe to the writer was closed")),
        }
    }

    /// Reads what is there; 0 at the end.
    ///
    /// # Errors
    /// `WouldBlock` when this end does not block and nothing is there; else as the operating system
    /// says.
    pub fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let fd = self.fd()?;
        // SAFETY: `into` is writable for its length
        retry(|| unsafe { libc::read(fd, into.as_mut_ptr().cast(), into.len()) })
    }

    /// Writes what there is room for.
    ///
    /// # Errors
    /// `WouldBlock` when this end does not block and there is no room; else as the operating system
    /// says.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let fd = self.fd()?;
        // SAFETY: `bytes` is readable for its length
        retry(|| unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) })
    }

    /// Waits up to so many milliseconds. False when the time is over or a signal came.
    ///
    /// # Errors
    /// When the end was closed.
    pub fn wait(&self, what: Wait, milliseconds: i32) -> io::Result<bool> {
        let events = match what {
            Wait::Readable => libc::POLLIN,
            Wait::Writable => libc::POLLOUT,
        };
        let mut request = libc::pollfd { fd: self.fd()?, events, revents: 0 };
        // SAFETY: one request, as announced
        Ok(unsafe { libc::poll(&mut request, 1, milliseconds) } > 0)
    }

    /// Closes this end, unless its number belongs to another file by now. Takes no lock.
    pub fn close(&self) {
        if let Ok(fd) = self.fd()
            && self.fd.swap(-1, Ordering::AcqRel) == fd
        {
            // SAFETY: the descriptor is ours, and only one caller gets here with it
            unsafe { libc::close(fd) };
        }
    }

    fn no_blocking(&self) -> io::Result<()> {
        // SAFETY: fcntl with an integer argument touches no memory
        check(unsafe { libc::fcntl(self.fd()?, libc::F_SETFL, libc::O_NONBLOCK) }).map(|_| ())
    }
}

impl Drop for PipeEnd {
    fn drop(&mut self) {
        self.close();
    }
}

fn pipe() -> io::Result<(PipeEnd, PipeEnd)> {
    let mut fds = [-1; 2];
    // SAFETY: room for two descriptors, as the call wants
    check(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) })?;
    let (out, into) = (PipeEnd::adopt(raise(fds[0]))?, PipeEnd::adopt(raise(fds[1]))?);
    // SAFETY: fcntl with an integer argument touches no memory. A smaller pipe only fills sooner.
    unsafe { libc::fcntl(into.fd()?, libc::F_SETPIPE_SZ, SIZE) };
    Ok((out, into))
}

/// Moves a descriptor out of the way, or leaves it where it is.
fn raise(fd: RawFd) -> RawFd {
    // SAFETY: fcntl with an integer argument touches no memory
    let high = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, LOWEST_FD) };
    if high < 0 {
        return fd;
    }
    // SAFETY: `fd` is ours and has a successor
    unsafe { libc::close(fd) };
    high
}

fn identity(fd: RawFd) -> io::Result<(u64, u64)> {
    let mut found = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: room for one stat, as the call wants
    check(unsafe { libc::fstat(fd, found.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so it has filled it
    let found = unsafe { found.assume_init() };
    Ok((found.st_dev, found.st_ino))
}

fn check(code: i32) -> io::Result<i32> {
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(code) }
}

fn retry(mut call: impl FnMut() -> isize) -> io::Result<usize> {
    loop {
        match usize::try_from(call()) {
            Ok(count) => return Ok(count),
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}
