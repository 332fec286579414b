//! A file whose bytes go to the disk while it is written, and then leave the page cache.
//!
//! A checkpoint is read again seldom and late. Left alone, it would push the script's own files out of memory, and all of it
//! would wait for the one sync at the end.
use std::fs::File;
use std::io::{self, Write};
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;

/// The disk is given this many bytes at a time.
const WINDOW: u64 = 8 << 20;

#[derive(Debug)]
pub(super) struct Throttled {
    file: File,
    written: u64,
    /// What the disk was told to write.
    started: u64,
}

impl Throttled {
    pub fn new(file: File) -> Throttled {
        Throttled { file, written: 0, started: 0 }
    }

    pub fn sync_all(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Lets the page cache go of the file, which is on the disk. Advice: where it is not taken, nothing is lost.
    pub fn forget(&self) {
        advise(&self.file, 0, 0);
    }
}

impl Write for Throttled {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.written += count as u64;
        if self.written - self.started >= WINDOW {
            start(&self.file, self.started, self.written - self.started);
            self.started = self.written;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(target_os = "linux")]
fn start(file: &File, from: u64, len: u64) {
    // Errors are told by the sync at the end, which alone makes the file durable.
    // SAFETY: the descriptor is open for as long as `file` is borrowed, and no memory is touched
    unsafe { libc::sync_file_range(file.as_raw_fd(), from as i64, len as i64, libc::SYNC_FILE_RANGE_WRITE) };
}

#[cfg(target_os = "linux")]
fn advise(file: &File, from: u64, len: u64) {
    // SAFETY: as above
    unsafe { libc::posix_fadvise(file.as_raw_fd(), from as i64, len as i64, libc::POSIX_FADV_DONTNEED) };
}

#[cfg(not(target_os = "linux"))]
fn start(_: &File, _: u64, _: u64) {}

#[cfg(not(target_os = "linux"))]
fn advise(_: &File, _: u64, _: u64) {}
