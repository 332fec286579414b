//! The training process's side: stage, log, poll, close. Nothing here fails towards the script.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::arena::{Mapping, Space};
use super::child::slot::{HEAD, Slot};
use super::child::start::{self as encoder, Encoder};
use super::commit::Committer;
use super::engine::{self, Engine};
use super::large::Seen;
use super::pipe::Ends;
use super::staged::{self, Part};
use super::totals::Totals;
use super::wire::{Command, Done};
use super::writer_link::WriterLink;
use crate::locks::lock;
use crate::store::journal::Key;
use crate::store::layout::{RunId, Store};
use crate::store::{Result, StoreError};

/// How a recorder works.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Bytes of staging memory for all that is on its way.
    pub max_staging: usize,
    /// And for one checkpoint that is alone, if it needs more.
    pub most: usize,
    /// The engine to try first.
    pub engine: Engine,
    /// What the journal is sealed with.
    pub key: Option<Key>,
    /// Whether small checkpoints may share packs.
    pub shares: bool,
}

/// A checkpoint that was staged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Receipt {
    /// Its number in the run.
    pub seq: u64,
    /// Bytes that were copied.
    pub bytes: usize,
    /// How long the caller was held up, in seconds.
    pub stall_s: f64,
}

/// Records one rank of one run.
#[derive(Debug)]
pub struct Recorder {
    owner: i32,
    abandoned: AtomicBool,
    engine: Engine,
    fallback: Option<String>,
    pid: Option<i32>,
    pub(super) ends: Arc<Ends>,
    pub(super) arena: Arc<Mapping>,
    /// Held while bytes are copied, so that extents are sent in the order in which they were taken.
    pub(super) staging: Mutex<()>,
    inline: Mutex<Option<Committer>>,
    pub(super) seen: Mutex<Seen>,
    pub(super) link: Mutex<WriterLink>,
}

impl Recorder {
    /// Opens the run's journal and starts the engine.
    ///
    /// # Errors
    /// When the store cannot be written, or there is no memory for staging.
    pub fn start(store: &Store, run: &RunId, rank: u32, options: Options) -> Result<Recorder> {
        let committer = Committer::open(store, run, rank, options.key.as_ref())?.sharing(options.shares);
        let arena = Mapping::new(options.most.max(options.max_staging))
            .or_else(|_| Mapping::new(options.max_staging))
            .map_err(StoreError::io("map staging memory for", store.root()))?;
        let ends = Ends::new().map_err(StoreError::io("make a pipe for", store.root()))?;
        let (arena, ends) = (Arc::new(arena), Arc::new(ends));
        let space = Space::new(arena.len(), options.max_staging);
        let link = WriterLink::new(Arc::clone(&ends), Arc::clone(&arena), space, committer.next_seq());
        let started = engine::start(options.engine, &ends, &arena, committer);
        Ok(Recorder {
            owner: pid(),
            abandoned: AtomicBool::new(false),
            engine: started.engine,
            fallback: started.fallback,
            pid: started.pid,
            ends,
            arena,
            staging: Mutex::new(()),
            inline: Mutex::new(started.inline),
            seen: Mutex::default(),
            link: Mutex::new(link.with_writer(started.pid)),
        })
    }

    /// Copies a checkpoint to staging memory and hands it on. `None` when there is no room now, the
    /// engine is dead, or the recorder is closed.
    ///
    /// # Safety
    /// Every part must be readable until the call returns.
    pub unsafe fn submit(&self, header: &str, parts: &[Part]) -> Option<Receipt> {
        let start = Instant::now();
        if self.inert() {
            return None;
        }
        let _staging = lock(&self.staging);
        let (seq, extent) = {
            let mut link = lock(&self.link);
            link.exchange();
            link.take(staged::staged_len(header, parts)?)?
        };
        // SAFETY: the caller promises the parts, the space gives each extent to one submit only
        let copied = unsafe { staged::write(&self.arena, extent, header, parts, staged::MAX_COPIERS) };
        debug_assert!(copied, "an extent has the length that was asked for");
        let bytes = parts.iter().map(|part| part.len).sum::<usize>() + header.len();
        let mut link = lock(&self.link);
        link.totals.bytes_staged += bytes as u64;
        link.faults.begin_quiet();
        if self.engine == Engine::Inline {
            let mut committer = lock(&self.inline);
            // SAFETY: nobody else has the extent
            let staged = unsafe { self.arena.bytes(extent.offset, extent.len) };
            let done = committer.as_mut().map(|committer| committer.commit(seq, staged));
            link.settle(done.unwrap_or_default());
        } else {
            link.send(&Command::Checkpoint { seq, offset: extent.offset, len: extent.len });
        }
        Some(Receipt { seq, bytes, stall_s: start.elapsed().as_secs_f64() })
    }

    /// Has a child of this process encode a checkpoint of at most `len` bytes until `deadline`. In
    /// the child `encode` is given where to put it and what to call once it has begun; `ready` is
    /// called right before the clone. `None` when another child lives, there is no room now, or the
    /// writer is no process that would hear of it.
    ///
    /// # Errors
    /// What `ready` returns as such: then there is no child.
    pub(crate) fn fork<E>(
        &self,
        len: usize,
        deadline: Duration,
        ready: impl FnOnce() -> std::result::Result<(), E>,
        encode: impl FnOnce(Slot<'_>, &dyn Fn()),
    ) -> std::result::Result<Option<Receipt>, E> {
        let start = Instant::now();
        if self.inert() || self.engine != Engine::Writer {
            return Ok(None);
        }
        // a thread that copies now would hold up the caller, who has Python's lock
        let Ok(_staging) = self.staging.try_lock() else { return Ok(None) };
        let mut link = lock(&self.link);
        link.exchange();
        if link.is_encoding() {
            return Ok(None);
        }
        let Some((seq, extent)) = len.checked_add(HEAD).and_then(|len| link.take(len)) else { return Ok(None) };
        let Some(slot) = Slot::new(&self.arena, extent) else { return Ok(None) };
        slot.open(deadline);
        let outcome = ready();
        link.faults.fork();
        match outcome.as_ref().ok().map(|()| encoder::start(slot, deadline, |begun| encode(slot, begun))) {
            Some(Ok(pid)) => {
                slot.of_process(pid);
                link.encodes(Encoder::new(seq, pid, deadline));
            }
            // the number is taken, so the writer hears of it
            _ => slot.give_up(),
        }
        link.totals.bytes_staged += extent.len as u64;
        link.send(&Command::Forked { seq, offset: extent.offset, len: extent.len });
        outcome.map(|()| Some(Receipt { seq, bytes: extent.len, stall_s: start.elapsed().as_secs_f64() }))
    }

    /// Says that checkpoints of so many bytes are to be expected, so that the first need not wait
    /// for fresh memory.
    pub fn prepare(&self, len: usize) {
        if !self.inert() && self.engine != Engine::Inline {
            lock(&self.link).prepare(len);
        }
    }

    /// Hands a record for the journal on. Lost, and counted, when the writer is dead or cannot keep
    /// up.
    pub fn log(&self, kind: &str, payload: &str) {
        if self.inert() {
            return;
        }
        let mut link = lock(&self.link);
        if self.engine == Engine::Inline {
            link.totals.logs += 1;
            if let Some(committer) = lock(&self.inline).as_mut() {
                committer.log(kind, payload);
                committer.flush();
            }
        } else {
            link.log(kind, payload);
        }
    }

    /// The checkpoints that were finished since the last call, in order.
    pub fn poll(&self) -> Vec<Done> {
        if self.inert() {
            return Vec::new();
        }
        let mut link = lock(&self.link);
        link.exchange();
        link.finished()
    }

    /// Has checkpoints dropped, and their packs removed where nothing else needs them. `payload` is the text of the
    /// record that names them: `{"seqs": […]}`.
    pub fn drop_checkpoints(&self, payload: &str) {
        if self.inert() {
            return;
        }
        let mut link = lock(&self.link);
        if self.engine == Engine::Inline {
            let freed = lock(&self.inline).as_mut().map_or(0, |committer| committer.drop_checkpoints(payload));
            link.dropped(freed);
        } else {
            link.drop_checkpoints(payload);
        }
    }

    /// What requests to drop checkpoints have freed since the last call, in bytes, in order.
    pub fn freed(&self) -> Vec<u64> {
        if self.inert() {
            return Vec::new();
        }
        let mut link = lock(&self.link);
        link.exchange();
        link.freed()
    }

    /// The largest checkpoint that could be staged now, in bytes, its header and the space between
    /// its parts included.
    pub fn room(&self) -> usize {
        if self.inert() {
            return 0;
        }
        let mut link = lock(&self.link);
        link.exchange();
        link.room()
    }

    /// The largest checkpoint that could be staged as a whole if nothing else were on its way, in bytes.
    pub fn whole(&self) -> usize {
        if self.inert() { 0 } else { lock(&self.link).whole() }
    }

    /// Whether no checkpoint can be handed over in pieces.
    pub(super) fn takes_no_pieces(&self) -> bool {
        self.inert() || self.engine == Engine::Inline
    }

    /// The engine at work.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Why it is not the engine that was asked for.
    pub fn fallback(&self) -> Option<&str> {
        self.fallback.as_deref()
    }

    /// The writer's process id, if it is a process.
    pub fn pid(&self) -> Option<i32> {
        self.pid
    }

    /// Why nothing is recorded any more.
    pub fn dead(&self) -> Option<String> {
        if self.inert() {
            return Some("this process was forked from the one that records".to_string());
        }
        let mut link = lock(&self.link);
        link.exchange();
        link.dead().map(str::to_string)
    }

    /// Waits until everything staged is durable, at most so long, and ends the engine. Later calls
    /// return the same. Asks `go_on` from time to time; when that says no, the result is `None` and
    /// a later call waits again.
    pub fn close(&self, timeout: Duration, mut go_on: impl FnMut() -> bool) -> Option<Totals> {
        if self.inert() {
            return Some(Totals::default());
        }
        self.announce_close();
        let start = Instant::now();
        while !lock(&self.link).ended() && start.elapsed() < timeout {
            // waits on the pipes alone, so that other threads can go on
            WriterLink::wait(&self.ends, timeout.saturating_sub(start.elapsed()));
            lock(&self.link).exchange();
            if !go_on() {
                return None;
            }
        }
        let mut link = lock(&self.link);
        link.finish_close(timeout);
        Some(link.totals.clone())
    }

    fn announce_close(&self) {
        let _staging = lock(&self.staging);
        // a statement of its own: the lock must not be held while the next one is taken
        let inline = lock(&self.inline).take();
        let mut link = lock(&self.link);
        if let Some(mut committer) = inline {
            committer.finish();
            let (lost, error) = committer.losses();
            link.closed_by_writer(lost, error);
        }
        link.send_close();
    }

    /// For a process that the script forked: lets go of the pipes and does nothing ever after.
    /// Takes no lock, because a thread that does not exist in this process may hold it.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
        self.ends.close();
    }

    fn inert(&self) -> bool {
        self.abandoned.load(Ordering::Acquire) || pid() != self.owner
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if self.inert() {
            return;
        }
        lock(&self.link).let_go();
    }
}

fn pid() -> i32 {
    // SAFETY: getpid always succeeds and touches no memory
    unsafe { libc::getpid() }
}
