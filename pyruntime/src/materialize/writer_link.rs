//! The state of the conversation with the writer, as the training process sees it.
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::arena::{Extent, Mapping, Reach, Space};
use super::child::process::Process;
use super::child::start::{Encoder, Faults};
use super::memory;
use super::pipe::{Ends, Wait};
use super::send_queue::SendQueue;
use super::totals::Totals;
use super::wire::{Command, Done, Refusal, Reply};

/// Bytes of commands that may wait for room in the pipe.
const BACKLOG: usize = 16 << 20;
/// How long a script may once be held up by a full backlog before its records are dropped.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(10);
/// How long a writer that has said its last word may take to end.
const LAST_BREATH: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The writer was told that nothing follows.
    Closing,
    /// The writer has written everything.
    Ended,
    /// Nobody listens any more.
    Closed,
}

#[derive(Debug)]
pub(super) struct WriterLink {
    ends: Arc<Ends>,
    arena: Arc<Mapping>,
    pub(super) space: Space,
    queue: SendQueue,
    incoming: Vec<u8>,
    next_seq: u64,
    in_flight: VecDeque<u64>,
    /// Those of them that were handed over in pieces, which are given back one by one.
    pub(super) in_pieces: VecDeque<u64>,
    /// The answer to whether the store has a part of a checkpoint.
    pub(super) has: Option<(u64, bool)>,
    finished: Vec<Done>,
    /// What each request to drop checkpoints has freed, in bytes.
    freed: Vec<u64>,
    state: State,
    dead: Option<String>,
    writer: Process,
    /// The writer is a thread, which reads commands through our own descriptor.
    shares_pipe: bool,
    /// The child that encodes a checkpoint, while it may live.
    encoder: Option<Encoder>,
    pub faults: Faults,
    /// The checkpoint during which more pages are touched than usual.
    forked: Option<u64>,
    /// The script was held up for as long as it may; no more until the backlog is gone.
    out_of_patience: bool,
    pub totals: Totals,
}

impl WriterLink {
    pub fn new(ends: Arc<Ends>, arena: Arc<Mapping>, space: Space, next_seq: u64) -> WriterLink {
        WriterLink {
            ends,
            arena,
            space,
            queue: SendQueue::default(),
            incoming: Vec::new(),
            next_seq,
            in_flight: VecDeque::new(),
            in_pieces: VecDeque::new(),
            has: None,
            finished: Vec::new(),
            freed: Vec::new(),
            state: State::Open,
            dead: None,
            writer: Process::new(None),
            shares_pipe: true,
            encoder: None,
            faults: Faults::default(),
            forked: None,
            out_of_patience: false,
            totals: Totals::default(),
        }
    }

    /// With the process that is at work, if it is one.
    pub fn with_writer(mut self, pid: Option<i32>) -> WriterLink {
        self.shares_pipe = pid.is_none();
        self.writer = Process::new(pid);
        self
    }

    /// Takes an extent and a number for a checkpoint.
    pub fn take(&mut self, len: usize) -> Option<(u64, Extent)> {
        if !self.is_open() {
            return None;
        }
        let extent = self.take_usual(len).or_else(|| {
            let is_alone = self.space.is_free() && memory::affords_for_now(len);
            if is_alone { self.space.alloc(len, Reach::All) } else { None }
        })?;
        Some((self.number(), extent))
    }

    /// Memory that was touched before is ours already; fresh memory may be what the training needs next.
    pub(super) fn take_usual(&mut self, len: usize) -> Option<Extent> {
        let touched = self.space.alloc(len, Reach::Touched);
        touched.or_else(|| if memory::affords(len) { self.space.alloc(len, Reach::Usual) } else { None })
    }

    /// The number of the next checkpoint, which is on its way from now on.
    pub(super) fn number(&mut self) -> u64 {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.in_flight.push_back(seq);
        seq
    }

    /// How many extents are in use.
    pub(super) fn waiting(&self) -> usize {
        self.space.taken()
    }

    /// The oldest extent is not used any more.
    fn give_back(&mut self) {
        if let Some(past) = self.space.free_oldest() {
            self.arena.release(past);
        }
    }

    /// Whether checkpoints can be handed over.
    pub(super) fn is_open(&self) -> bool {
        self.dead.is_none() && self.state == State::Open
    }

    /// Lets the writer find staging memory ahead of a checkpoint of so many bytes.
    pub fn prepare(&mut self, len: usize) {
        if self.is_open() && memory::affords(len) {
            self.send(&Command::Prepare { len });
        }
    }

    pub fn room(&self) -> usize {
        if self.is_open() { self.space.room() } else { 0 }
    }

    /// The largest checkpoint that can be staged as a whole when nothing else is on its way, in bytes.
    pub fn whole(&self) -> usize {
        if !self.is_open() {
            0
        } else if memory::affords_for_now(self.space.whole()) {
            self.space.whole()
        } else {
            self.space.room().max(memory::most_of_free().min(self.space.whole()))
        }
    }

    pub fn dead(&self) -> Option<&str> {
        self.dead.as_deref()
    }

    pub fn ended(&self) -> bool {
        self.dead.is_some() || matches!(self.state, State::Ended | State::Closed)
    }

    pub fn finished(&mut self) -> Vec<Done> {
        std::mem::take(&mut self.finished)
    }

    pub fn freed(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.freed)
    }

    /// Has checkpoints dropped; `payload` is the text of the record that says which.
    pub fn drop_checkpoints(&mut self, payload: &str) {
        if self.is_open() {
            self.send(&Command::Drop { payload: payload.to_string() });
        }
    }

    pub fn dropped(&mut self, freed: u64) {
        self.freed.push(freed);
    }

    pub fn send(&mut self, command: &Command) {
        self.queue.put(command);
        self.flush();
        if !command.can_wait() || self.queue.waiting() > 0 {
            self.ends.ring();
        }
    }

    pub fn log(&mut self, kind: &str, payload: &str) {
        self.totals.logs += 1;
        if self.dead.is_some() || self.state != State::Open || !self.make_room() {
            self.totals.logs_lost += 1;
            return;
        }
        self.send(&Command::Log { kind: kind.to_string(), payload: payload.to_string() });
    }

    /// Waits for room in the backlog, once for as long as patience lasts. False when there is none.
    fn make_room(&mut self) -> bool {
        let start = Instant::now();
        while self.queue.waiting() > BACKLOG {
            self.exchange();
            if self.out_of_patience || self.dead.is_some() {
                return self.queue.waiting() <= BACKLOG;
            }
            self.out_of_patience = start.elapsed() > PATIENCE;
            // a pipe that is closed is found out by the next exchange
            let _ = self.ends.commands_in.wait(Wait::Writable, LOOK.as_millis() as i32);
        }
        true
    }

    /// Sends and receives what can be sent and received without waiting.
    pub fn exchange(&mut self) {
        self.is_encoding();
        if self.dead.is_none() && self.state != State::Closed {
            self.flush();
            self.receive();
        }
    }

    /// Whether a child still lives that encodes a checkpoint. One that has ended is reaped.
    pub fn is_encoding(&mut self) -> bool {
        if self.encoder.as_mut().is_some_and(|encoder| !encoder.lives()) {
            self.encoder = None;
        }
        self.encoder.is_some()
    }

    /// A child was started.
    pub fn encodes(&mut self, encoder: Encoder) {
        self.forked = Some(encoder.seq);
        self.encoder = Some(encoder);
    }

    /// Gives the oldest extent back, unless a child may still write to it.
    fn free(&mut self, seq: u64, is_answered: bool) {
        let own = self.encoder.as_mut().filter(|encoder| encoder.seq == seq);
        if own.is_some_and(|encoder| !is_answered && !encoder.end()) {
            self.space.forget_oldest();
        } else {
            self.give_back();
        }
    }

    fn flush(&mut self) {
        if self.dead.is_some() {
            return;
        }
        if let Err(error) = self.queue.flush(&self.ends.commands_in) {
            self.die(&format!("the writer cannot be reached: {error}"));
        }
        self.out_of_patience &= self.queue.waiting() > 0;
    }

    fn receive(&mut self) {
        let mut buffer = [0u8; 1 << 12];
        while self.dead.is_none() && self.state != State::Ended {
            match self.ends.replies_out.read(&mut buffer) {
                Ok(0) => self.die("the writer is gone"),
                Ok(count) => {
                    self.incoming.extend_from_slice(&buffer[..count]);
                    self.understand();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => self.die(&format!("the writer cannot be heard: {error}")),
            }
        }
    }

    fn understand(&mut self) {
        let mut start = 0;
        loop {
            match Reply::decode(&self.incoming[start..]) {
                Ok(Some((reply, len))) => {
                    start += len;
                    match reply {
                        Reply::Ready => {}
                        Reply::Done(done) => self.settle(done),
                        Reply::Dropped { freed } => self.dropped(freed),
                        Reply::PieceTaken => self.give_back(),
                        Reply::Has { seq, has } => self.has = Some((seq, has)),
                        Reply::Closed { lost, error } => self.closed_by_writer(lost, error),
                    }
                }
                Ok(None) => break,
                Err(why) => {
                    self.die(&format!("the writer said {why}"));
                    break;
                }
            }
        }
        self.incoming.drain(..start);
    }

    /// A checkpoint was dealt with; they are, in the order of their numbers.
    pub fn settle(&mut self, mut done: Done) {
        self.in_flight.pop_front();
        if self.in_pieces.front() == Some(&done.seq) {
            self.in_pieces.pop_front();
        } else {
            // without an answer the child may not have noticed yet that nobody waits for it
            self.free(done.seq, done.error.is_none() || done.refusal != Refusal::None);
        }
        if self.forked == Some(done.seq) {
            self.forked = None;
            done.faults = self.faults.join();
        }
        self.totals.cpu_s += done.cpu_s + done.encode_s;
        self.totals.bytes_written += done.bytes_written;
        match &done.error {
            None => self.totals.checkpoints += 1,
            // not lost: it is told to whoever asked for it
            Some(_) if done.refusal != Refusal::None => {}
            Some(error) => self.totals.errors.push(format!("checkpoint {}: {error}", done.seq)),
        }
        self.finished.push(done);
    }

    pub fn closed_by_writer(&mut self, lost: u64, error: Option<String>) {
        self.totals.logs_lost += lost;
        if let Some(error) = error {
            let (records, are) = if lost == 1 { ("record", "is") } else { ("records", "are") };
            self.totals.errors.push(format!("{lost} {records} of the journal {are} lost: {error}"));
        }
        self.state = State::Ended;
    }

    /// Nothing is recorded any more. No extent is given back: a writer that only cannot be reached
    /// may still read it.
    fn die(&mut self, why: &str) {
        let ending = self.writer.reap_within(LAST_BREATH / 10);
        let reason = ending.map_or(why.to_string(), |ending| format!("{why}: {ending}"));
        for seq in self.in_flight.drain(..) {
            self.finished.push(Done { seq, error: Some(reason.clone()), ..Done::default() });
        }
        self.totals.errors.push(reason.clone());
        self.dead = Some(reason);
        self.queue = SendQueue::default();
    }

    pub fn send_close(&mut self) {
        if self.dead.is_none() && self.state == State::Open {
            self.state = State::Closing;
            self.send(&Command::Close);
        }
    }

    /// Waits for a reply, but not longer than it takes the pipe to get room for more.
    pub fn wait(ends: &Ends, at_most: Duration) {
        let milliseconds = at_most.min(LOOK).as_millis() as i32;
        // a pipe that is closed is found out by the next exchange
        let _ = ends.replies_out.wait(Wait::Readable, milliseconds.max(1));
    }

    /// Lets go of a writer that is not waited for; it drains by itself.
    pub fn let_go(&mut self) {
        self.exchange();
        self.send_close();
        self.ends.commands_in.close();
        self.writer.reap();
    }

    /// Lets go of the writer, whatever it does.
    pub fn finish_close(&mut self, timeout: Duration) {
        match self.state {
            State::Closed => return,
            State::Ended => {
                self.totals.drained = self.in_flight.is_empty() && self.dead.is_none();
                self.writer.reap_within(LAST_BREATH);
                // a child that has answered may still be on its way out: no process stays behind
                if self.encoder.as_mut().is_some_and(Encoder::finish) {
                    self.encoder = None;
                }
            }
            _ if self.dead.is_none() => self.totals.errors.push(format!(
                "after {} s the writer was still at work; it goes on in the background",
                timeout.as_secs_f64()
            )),
            _ => {}
        }
        self.state = State::Closed;
        self.ends.close_own(!self.shares_pipe || self.totals.drained);
        self.writer.reap();
    }
}
