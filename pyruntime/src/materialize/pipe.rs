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

/// The ends: commands go to the writer, replies come back, and a bell says that commands are not to wait.
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
    /// The writer hears the bell here.
    pub bell_out: PipeEnd,
    /// The training process rings it here: there are commands that are not to wait for others.
    pub bell_in: PipeEnd,
}

impl Ends {
    /// Three new pipes, closed on exec.
    ///
    /// # Errors
    /// When the operating system has no more descriptors.
    pub fn new() -> io::Result<Ends> {
        let (commands_out, commands_in) = pipe()?;
        let (replies_out, replies_in) = pipe()?;
        let (bell_out, bell_in) = pipe()?;
        for end in [&commands_in, &replies_out, &bell_out, &bell_in] {
            end.no_blocking()?;
        }
        Ok(Ends { commands_out, commands_in, replies_out, replies_in, bell_out, bell_in })
    }

    /// Says that commands are not to wait. A bell that is full rings already.
    pub fn ring(&self) {
        let _ = self.bell_in.write(&[1]);
    }

    /// Waits up to so many milliseconds for commands or for the bell. False when the time is over or a signal came.
    ///
    /// # Errors
    /// When one of them was closed.
    pub fn wait_for_commands(&self, milliseconds: i32) -> io::Result<bool> {
        let request = |end: &PipeEnd| end.fd().map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        let mut requests = [request(&self.commands_out)?, request(&self.bell_out)?];
        // SAFETY: two requests, as announced
        Ok(unsafe { libc::poll(requests.as_mut_ptr(), 2, milliseconds) } > 0)
    }

    /// Lets commands gather for so many milliseconds, or until the bell rings; it is silent afterwards. False when nobody can ring
    /// it any more: to wait for it would be no wait.
    pub fn gather(&self, milliseconds: i32) -> bool {
        if !self.bell_out.wait(Wait::Readable, milliseconds).unwrap_or(false) {
            return true;
        }
        loop {
            match self.bell_out.read(&mut [0; 64]) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
    }

    /// Closes what the training process uses. What the writer reads from stays open, unless `all`: to write where nobody reads
    /// would raise SIGPIPE.
    pub fn close_own(&self, all: bool) {
        [&self.commands_in, &self.bell_in, &self.replies_out].into_iter().for_each(PipeEnd::close);
        if all {
            [&self.commands_out, &self.bell_out].into_iter().for_each(PipeEnd::close);
        }
    }

    /// Closes all of them.
    pub fn close(&self) {
        let Ends { commands_out, commands_in, replies_out, replies_in, bell_out, bell_in } = self;
        [commands_out, commands_in, replies_out, replies_in, bell_out, bell_in].into_iter().for_each(PipeEnd::close);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bell_ends_the_wait_and_is_silent_again() {
        let ends = Ends::new().unwrap();
        assert!(!ends.wait_for_commands(0).unwrap());
        assert_eq!(ends.commands_in.write(b"x").unwrap(), 1);
        assert!(ends.wait_for_commands(0).unwrap() && !ends.bell_out.wait(Wait::Readable, 0).unwrap());
        (0..100).for_each(|_| ends.ring());
        assert!(ends.bell_out.wait(Wait::Readable, 0).unwrap());
        assert!(ends.gather(i32::MAX) && ends.gather(0));
        assert!(!ends.bell_out.wait(Wait::Readable, 0).unwrap());
        assert!(ends.commands_out.wait(Wait::Readable, 0).unwrap(), "commands are not read by it");
        ends.bell_in.close();
        ends.ring();
        assert!(!ends.gather(i32::MAX), "nobody can ring it");
        ends.close();
        assert!(ends.wait_for_commands(0).is_err());
    }
}
