//! A large file that is written past the page cache, by a thread of its own while the next bytes are made.
//!
//! The kernel copies nothing: that takes as little of the processor as can be, pushes nothing out of the page cache, and the disk
//! is busy while the next chunk is hashed.
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, Sender, TryRecvError, channel};
use std::thread::{Builder, JoinHandle};

/// Addresses, offsets and lengths are multiples of this: no disk in use has larger blocks.
const BLOCK: usize = 4096;
/// So much is given to the disk at a time.
const BUFFER: usize = 4 << 20;
/// So many are made at most: while a chunk of 50 MB is hashed, which comes before any of it is passed on, the disk has as much to
/// write of the chunk before.
const BUFFERS: usize = 12;

/// Memory that begins at a multiple of [`BLOCK`].
#[derive(Debug)]
struct Buffer {
    memory: Vec<u8>,
    start: usize,
}

impl Buffer {
    fn new() -> Buffer {
        let memory = vec![0; BUFFER + BLOCK];
        let start = memory.as_ptr().align_offset(BLOCK).min(BLOCK);
        Buffer { memory, start }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + BUFFER]
    }
}

/// A buffer to be written: how much of it, and where.
#[derive(Debug)]
struct Full {
    buffer: Buffer,
    len: usize,
    offset: u64,
}

#[derive(Debug)]
struct Lane {
    full: Sender<Full>,
    empty: Receiver<Buffer>,
    thread: JoinHandle<io::Result<f64>>,
}

/// The file; what is written to it is complete once [`Direct::finish`] has returned.
#[derive(Debug)]
pub(super) struct Direct {
    file: Arc<File>,
    buffer: Buffer,
    filled: usize,
    /// Where the buffer will lie in the file.
    offset: u64,
    /// None where no thread can be had: then the caller writes.
    lane: Option<Lane>,
    /// How many buffers there are.
    made: usize,
    /// Processor time of the thread, in seconds.
    pub cpu_s: f64,
}

impl Direct {
    /// Whether the file can be written so.
    pub fn takes(file: &File) -> bool {
        set_direct(file, true)
    }

    /// A file that [`Direct::takes`], from its beginning.
    pub fn new(file: File) -> Direct {
        let file = Arc::new(file);
        let lane = Lane::start(&file);
        Direct { file, buffer: Buffer::new(), filled: 0, offset: 0, lane, made: 1, cpu_s: 0.0 }
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let (len, offset) = (self.filled, self.offset);
        let Some(lane) = &self.lane else {
            self.file.write_all_at(&self.buffer.bytes()[..len], offset)?;
            self.offset += len as u64;
            self.filled = 0;
            return Ok(());
        };
        // the thread gives each buffer back, or has failed
        let next = match lane.empty.try_recv() {
            Err(TryRecvError::Empty) if self.made < BUFFERS => {
                self.made += 1;
                Ok(Buffer::new())
            }
            Err(TryRecvError::Empty) => lane.empty.recv(),
            found => found.map_err(|_| RecvError),
        };
        let Ok(next) = next else { return Err(self.failure()) };
        let buffer = std::mem::replace(&mut self.buffer, next);
        if lane.full.send(Full { buffer, len, offset }).is_err() {
            return Err(self.failure());
        }
        self.offset += len as u64;
        self.filled = 0;
        Ok(())
    }

    /// Why the thread ended before the file did.
    fn failure(&mut self) -> io::Error {
        match self.join() {
            Err(error) => error,
            Ok(()) => io::Error::other("the thread that writes is gone"),
        }
    }

    fn join(&mut self) -> io::Result<()> {
        let Some(lane) = self.lane.take() else { return Ok(()) };
        drop(lane.full);
        let ended = lane.thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that writes has panicked")));
        self.cpu_s += ended?;
        Ok(())
    }

    /// Writes what is left, and makes the file durable.
    ///
    /// # Errors
    /// Those of the disk, also of earlier writes.
    pub fn finish(&mut self) -> io::Result<()> {
        self.join()?;
        if self.filled > 0 {
            // the end is no whole block
            set_direct(&self.file, false);
            let filled = self.filled;
            self.file.write_all_at(&self.buffer.bytes()[..filled], self.offset)?;
            self.filled = 0;
        }
        self.file.sync_all()
    }
}

impl Write for Direct {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(BUFFER - self.filled);
        let filled = self.filled;
        self.buffer.bytes()[filled..filled + len].copy_from_slice(&bytes[..len]);
        self.filled += len;
        if self.filled == BUFFER {
            self.pass_on()?;
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A thread that outlived its file could write to another that gets the same number.
impl Drop for Direct {
    fn drop(&mut self) {
        // whoever drops it unfinished has an error to tell already
        let _ = self.join();
    }
}

impl Lane {
    fn start(file: &Arc<File>) -> Option<Lane> {
        let (full, to_write) = channel::<Full>();
        let (give_back, empty) = channel();
        let file = Arc::clone(file);
        let body = move || {
            for mut next in to_write {
                file.write_all_at(&next.buffer.bytes()[..next.len], next.offset)?;
                // nobody may wait for it any more
                let _ = give_back.send(next.buffer);
            }
            Ok(thread_cpu_s())
        };
        let thread = Builder::new().name("florc-disk".to_owned()).spawn(body).ok()?;
        Some(Lane { full, empty, thread })
    }
}

/// Processor time of the calling thread, in seconds.
pub fn thread_cpu_s() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for one timespec, as the call wants
    if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) } != 0 {
        return 0.0;
    }
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Whether the file system takes that.
#[cfg(target_os = "linux")]
fn set_direct(file: &File, on: bool) -> bool {
    // SAFETY: the descriptor is open for as long as `file` is borrowed, and no memory is touched
    unsafe {
        let flags = libc::fcntl(file.as_raw_fd(), libc::F_GETFL);
        let wanted = if on { flags | libc::O_DIRECT } else { flags & !libc::O_DIRECT };
        flags >= 0 && libc::fcntl(file.as_raw_fd(), libc::F_SETFL, wanted) == 0
    }
}

#[cfg(not(target_os = "linux"))]
fn set_direct(_: &File, _: bool) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_arrives_whatever_the_lengths() {
        let dir = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..9 << 20).map(|n: usize| ((n * 2_654_435_761) >> 13) as u8).collect();
        for lens in [&[1usize, 4096, BUFFER, 5 << 20][..], &[9 << 20], &[17, 3], &[]] {
            for threads in [true, false] {
                let path = dir.path().join("file");
                let file = File::create(&path).unwrap();
                assert!(Direct::takes(&file), "this file system does not take it");
                let mut direct = Direct::new(file);
                if !threads {
                    direct.join().unwrap();
                }
                let mut end = 0;
                for len in lens {
                    let len = (*len).min(content.len() - end);
                    direct.write_all(&content[end..end + len]).unwrap();
                    end += len;
                }
                direct.finish().unwrap();
                assert!(std::fs::read(&path).unwrap() == content[..end]);
            }
        }
    }

    #[test]
    fn an_error_of_the_disk_is_told_and_the_thread_ends() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "kept").unwrap();
        // it can be read only
        let mut direct = Direct::new(File::open(&path).unwrap());
        let told = (0..100).find_map(|_| direct.write_all(&vec![1; BUFFER]).err()).or_else(|| direct.finish().err());
        assert_eq!(told.and_then(|error| error.raw_os_error()), Some(libc::EBADF));
        assert_eq!(std::fs::read(&path).unwrap(), b"kept");
    }
}
