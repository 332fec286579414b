//! `torch.save` without the stall: bytes are copied, and a thread writes the file.
//!
//! A file appears whole or not at all: it is written beside its name, made durable, and moved there.
mod archive;

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

pub use archive::Entry;

use crate::locks::{lock, wait};
use crate::materialize::arena::{Extent, Mapping, Reach, Space};
use crate::materialize::staged::{self, Part};

/// What is asked for in one `save`.
#[derive(Debug)]
struct Job {
    ticket: u64,
    path: PathBuf,
    names: Vec<String>,
    extent: Extent,
}

#[derive(Debug)]
struct State {
    space: Space,
    waiting: VecDeque<Job>,
    /// How many were asked for.
    last: u64,
    /// How many are done; they are done in order.
    done: u64,
    /// Why saves failed, until somebody asks.
    failed: HashMap<u64, String>,
    running: bool,
}

#[derive(Debug)]
struct Shared {
    arena: Mapping,
    state: Mutex<State>,
    changed: Condvar,
}

/// Saves files in the background, in the order in which they are asked for.
#[derive(Debug)]
pub struct Saver {
    shared: Arc<Shared>,
}

impl Saver {
    /// With so many bytes of staging memory.
    ///
    /// # Errors
    /// When the operating system has no address space for them.
    pub fn new(max_staging: usize) -> std::io::Result<Saver> {
        let arena = Mapping::new(max_staging)?;
        let space = Space::new(arena.len(), arena.len());
        let state = State { space, waiting: VecDeque::new(), last: 0, done: 0, failed: HashMap::new(), running: false };
        Ok(Saver { shared: Arc::new(Shared { arena, state: Mutex::new(state), changed: Condvar::new() }) })
    }

    /// Copies the parts and returns a ticket; the file is written afterwards. Waits for room while earlier saves hold
    /// it. A file larger than the staging memory is written at once.
    ///
    /// # Errors
    /// When a file that is written at once cannot be.
    ///
    /// # Safety
    /// Every part must be readable until the call returns.
    pub unsafe fn save(&self, path: PathBuf, names: Vec<String>, parts: &[Part]) -> Result<u64, String> {
        let Some(extent) = self.take(parts) else {
            // SAFETY: the caller's promise
            let entries = names.iter().zip(parts).map(|(name, part)| (name.as_str(), unsafe { part.bytes() }));
            self.wait(None, None);
            archive::write(&path, entries)?;
            let mut state = self.lock();
            state.last += 1;
            state.done = state.last;
            return Ok(state.last);
        };
        // SAFETY: the caller promises the parts, the space gives each extent to one save only
        let copied = unsafe { staged::write(&self.shared.arena, extent, "{}", parts, staged::MAX_COPIERS) };
        debug_assert!(copied, "an extent has the length that was asked for");
        let mut state = self.lock();
        state.last += 1;
        let ticket = state.last;
        state.waiting.push_back(Job { ticket, path, names, extent });
        if !state.running {
            let shared = Arc::clone(&self.shared);
            state.running =
                std::thread::Builder::new().name("florc-save".to_string()).spawn(move || shared.work()).is_ok();
        }
        let running = state.running;
        drop(state);
        if !running {
            self.shared.work(); // no thread can be had: now, then
        }
        Ok(ticket)
    }

    /// Room for the parts, as soon as there is; `None` when they can never fit.
    fn take(&self, parts: &[Part]) -> Option<Extent> {
        let len = staged::staged_len("{}", parts)?;
        let mut state = self.lock();
        loop {
            let found = state.space.alloc(len, Reach::Touched).or_else(|| state.space.alloc(len, Reach::All));
            if found.is_some() || state.done == state.last {
                return found;
            }
            state = wait(&self.shared.changed, state, None);
        }
    }

    /// Waits until the save with this ticket is durable (`None`: all of them), at most so long. Returns whether it is.
    pub fn wait(&self, ticket: Option<u64>, timeout: Option<Duration>) -> bool {
        let begun = Instant::now();
        let mut state = self.lock();
        let wanted = ticket.unwrap_or(state.last);
        while state.done < wanted {
            let left = timeout.map(|timeout| timeout.saturating_sub(begun.elapsed()));
            if left == Some(Duration::ZERO) {
                return false;
            }
            let step = left.unwrap_or(Duration::from_secs(3600));
            state = wait(&self.shared.changed, state, Some(step));
        }
        true
    }

    /// Why a save failed; asked once.
    pub fn failure(&self, ticket: u64) -> Option<String> {
        self.lock().failed.remove(&ticket)
    }

    /// Every failure that nobody asked for.
    pub fn failures(&self) -> Vec<String> {
        let mut found: Vec<(u64, String)> = self.lock().failed.drain().collect();
        found.sort();
        found.into_iter().map(|(_, why)| why).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }
}

impl Shared {
    /// A panic elsewhere must not lose a save.
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Writes what is waiting, and ends when nothing is.
    fn work(&self) {
        loop {
            let mut state = self.lock();
            let Some(job) = state.waiting.pop_front() else {
                state.running = false;
                return;
            };
            drop(state);
            let written = self.write(&job);
            let mut state = self.lock();
            state.space.free_oldest();
            state.done = job.ticket;
            if let Err(why) = written {
                state.failed.insert(job.ticket, why);
            }
            drop(state);
            self.changed.notify_all();
        }
    }

    fn write(&self, job: &Job) -> Result<(), String> {
        // SAFETY: the extent belongs to this job until it is given back
        let bytes = unsafe { self.arena.bytes(job.extent.offset, job.extent.len) };
        let staged = bytes.and_then(staged::Staged::parse).ok_or("the staged bytes are not as they were laid out")?;
        archive::write(&job.path, job.names.iter().map(String::as_str).zip(staged.parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn save(saver: &Saver, path: &std::path::Path, bytes: &[u8]) -> Result<u64, String> {
        // SAFETY: the bytes live through the call
        unsafe { saver.save(path.to_owned(), vec!["a/data".to_string()], &[Part::of(bytes)]) }
    }

    #[test]
    fn saves_come_out_in_order_and_larger_ones_than_the_memory_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let saver = Saver::new(1 << 16).unwrap();
        let path = dir.path().join("a.pt");
        for round in 0..50u8 {
            save(&saver, &path, &vec![round; 20_000]).unwrap();
        }
        let last = save(&saver, &path, &vec![200; 1 << 20]).unwrap();
        assert!(saver.wait(Some(last), None) && saver.failure(last).is_none());
        assert!(std::fs::metadata(&path).unwrap().len() > 1 << 20);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_failure_is_told_once_and_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let saver = Saver::new(1 << 16).unwrap();
        let ticket = save(&saver, &dir.path().join("missing").join("a.pt"), b"x").unwrap();
        assert!(saver.wait(Some(ticket), None));
        assert!(saver.failure(ticket).is_some_and(|why| why.contains("missing")));
        assert!(saver.failure(ticket).is_none() && saver.failures().is_empty());
    }
}
