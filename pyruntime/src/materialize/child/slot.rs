//! A checkpoint that a child of the training process encodes: what the child, its parent and the
//! writer say to one another.
//!
//! The extent begins with a head of eight words, then comes the checkpoint as `staged` lays it out,
//! or the text of a refusal. Whoever changes the first word from `PENDING` decides what becomes of
//! the checkpoint; everybody else finds that out by the same word.
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::materialize::arena::{ALIGNMENT, Extent, Mapping};
use crate::materialize::commit::Committer;
use crate::materialize::staged::{self, Part};
use crate::materialize::wire::{Done, Refusal};

/// Bytes of the head.
pub(in crate::materialize) const HEAD: usize = ALIGNMENT;

const STATE: usize = 0;
const PID: usize = 1;
const CPU: usize = 2;
const REFUSAL: usize = 3;
const TEXT: usize = 4;
const DEADLINE_MS: usize = 5;

const PENDING: u64 = 0;
const READY: u64 = 1;
const REFUSED: u64 = 2;
const LOST: u64 = 3;

/// How long after the child's own deadline, at which the kernel ends it, the writer gives up.
const GRACE: Duration = Duration::from_secs(5);
/// How long the writer sleeps between two looks at the word, and how much longer each time.
const FIRST_NAP: Duration = Duration::from_micros(200);
const LONGEST_NAP: Duration = Duration::from_millis(10);
/// How often it looks whether the child lives.
const LOOK: Duration = Duration::from_millis(100);

/// The extent of one forked checkpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot<'a> {
    arena: &'a Mapping,
    extent: Extent,
}

impl<'a> Slot<'a> {
    /// `None` when the extent is no place for one.
    pub fn new(arena: &'a Mapping, extent: Extent) -> Option<Slot<'a>> {
        let slot = Slot { arena, extent };
        (extent.len > HEAD && (0..HEAD / 8).all(|number| arena.word(extent.offset + number * 8).is_some()))
            .then_some(slot)
    }

    /// Before the child exists.
    pub fn open(self, deadline: Duration) {
        (0..HEAD / 8).for_each(|number| self.set(number, 0));
        self.set(DEADLINE_MS, deadline.as_millis() as u64);
        self.set(STATE, PENDING);
    }

    /// Which process encodes.
    pub fn of_process(self, pid: i32) {
        self.set(PID, pid as u64);
    }

    /// Nothing will come: there is no child.
    pub fn give_up(self) {
        self.settle(LOST);
    }

    /// By the child: the checkpoint, or, where it does not fit, why not.
    ///
    /// # Safety
    /// The parts must be readable.
    pub unsafe fn put(self, header: &str, parts: &[Part]) {
        let fits = self.body();
        let needed = staged::staged_len(header, parts).unwrap_or(usize::MAX);
        // SAFETY: the caller vouches for the parts; the extent is this child's until the word says
        // otherwise. One copier: there are other things to do on the machine than this.
        if needed > fits.len || !unsafe { staged::write(self.arena, fits, header, parts, 1) } {
            self.refuse(
                Refusal::Elsewhere,
                &format!("it grew to {needed} bytes, more than the {} kept for it", fits.len),
            );
            return;
        }
        self.set(CPU, cpu_s().to_bits());
        self.settle(READY);
    }

    /// By the child: why there is no checkpoint.
    pub fn refuse(self, refusal: Refusal, why: &str) {
        let room = self.body();
        let end = (0..=why.len().min(room.len)).rev().find(|end| why.is_char_boundary(*end)).unwrap_or(0);
        // SAFETY: the text is ours, the extent this child's until the word says otherwise
        unsafe { self.arena.write(room.offset, why.as_ptr(), end) };
        self.set(TEXT, end as u64);
        self.set(REFUSAL, refusal.number());
        self.set(CPU, cpu_s().to_bits());
        self.settle(REFUSED);
    }

    /// Whether the child has said its last word, so that it uses the extent no more.
    pub fn is_answered(self) -> bool {
        matches!(self.get(STATE), READY | REFUSED)
    }

    /// True for the one that decides.
    fn settle(self, state: u64) -> bool {
        let word = self.arena.word(self.extent.offset);
        word.is_some_and(|word| word.compare_exchange(PENDING, state, Ordering::AcqRel, Ordering::Acquire).is_ok())
    }

    fn body(self) -> Extent {
        Extent { offset: self.extent.offset + HEAD, len: self.extent.len - HEAD }
    }

    fn word(self, number: usize) -> Option<&'a AtomicU64> {
        self.arena.word(self.extent.offset + number * 8)
    }

    fn get(self, number: usize) -> u64 {
        self.word(number).map_or(LOST, |word| word.load(Ordering::Acquire))
    }

    fn set(self, number: usize, value: u64) {
        if let Some(word) = self.word(number) {
            word.store(value, Ordering::Release);
        }
    }

    fn text(self) -> String {
        let room = self.body();
        let len = usize::try_from(self.get(TEXT)).unwrap_or(0).min(room.len);
        // SAFETY: the child has said its last word
        let bytes = unsafe { self.arena.bytes(room.offset, len) };
        String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
    }
}

/// By the writer: waits for the child, and commits what it encoded.
pub(in crate::materialize) fn commit(committer: &mut Committer, arena: &Mapping, seq: u64, extent: Extent) -> Done {
    let lost = |why: &str| Done { seq, error: Some(why.to_string()), ..Done::default() };
    let Some(slot) = Slot::new(arena, extent) else {
        return lost("the extent of a forked checkpoint is none");
    };
    if !slot.is_answered() {
        // let the records reach the file meanwhile, where they outlive this process
        committer.flush();
    }
    let why = wait(slot);
    let encode_s = f64::from_bits(slot.get(CPU));
    match slot.get(STATE) {
        READY => {
            let body = slot.body();
            // SAFETY: the child has said its last word
            let done = committer.commit(seq, unsafe { arena.bytes(body.offset, body.len) });
            Done { encode_s, ..done }
        }
        REFUSED => Done { encode_s, refusal: Refusal::numbered(slot.get(REFUSAL)), ..lost(&slot.text()) },
        _ => lost(why),
    }
}

/// Waits until the child has said its last word; why there is none, should it not.
fn wait(slot: Slot<'_>) -> &'static str {
    let (start, mut looked) = (Instant::now(), Instant::now());
    let mut nap = FIRST_NAP;
    let patience = Duration::from_millis(slot.get(DEADLINE_MS)).saturating_add(GRACE);
    loop {
        if slot.get(STATE) != PENDING {
            return "no process could be started to encode it";
        }
        if start.elapsed() > patience {
            slot.settle(LOST);
            return "the process that encodes it took too long";
        }
        if looked.elapsed() > LOOK {
            looked = Instant::now();
            // its last word may have come after the look at the word and before the one at the
            // process: who loses here has lost against the child
            if is_gone(slot.get(PID)) && slot.settle(LOST) {
                return "the process that encodes it ended too soon";
            }
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(LONGEST_NAP);
    }
}

/// Whether a process has ended, reaped or not. False when that cannot be known.
fn is_gone(pid: u64) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        // the name, in parentheses, may hold anything
        Ok(stat) => stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X'])),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound && std::path::Path::new("/proc/self/stat").exists(),
    }
}

/// Processor time of this process, in seconds.
fn cpu_s() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for one timespec, as the call wants
    if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) } != 0 {
        return 0.0;
    }
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(arena: &Mapping, len: usize) -> Slot<'_> {
        let slot = Slot::new(arena, Extent { offset: 64, len }).unwrap();
        slot.open(Duration::from_secs(1));
        slot
    }

    #[test]
    fn the_first_word_counts() {
        let arena = Mapping::new(1 << 12).unwrap();
        let slot = slot(&arena, 1024);
        slot.refuse(Refusal::ForGood, "a lock");
        slot.give_up();
        assert!(!slot.settle(READY));
        assert!(slot.is_answered() && slot.get(STATE) == REFUSED);
        assert_eq!((slot.text().as_str(), slot.get(REFUSAL)), ("a lock", Refusal::ForGood.number()));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let arena = Mapping::new(1 << 12).unwrap();
        let slot = slot(&arena, 256);
        let large = [1u8; 300];
        // SAFETY: the part lives
        unsafe { slot.put("{}", &[Part::of(&large)]) };
        assert_eq!(slot.get(STATE), REFUSED);
        assert!(slot.text().contains("more than the 192 kept for it"), "{}", slot.text());
        let long = "é".repeat(500);
        slot.open(Duration::from_secs(1));
        slot.refuse(Refusal::ForNow, &long);
        assert_eq!(slot.text(), "é".repeat(96));
    }

    #[test]
    fn a_process_that_is_gone_is_not_waited_for() {
        let arena = Mapping::new(1 << 12).unwrap();
        let slot = slot(&arena, 256);
        // larger than any number of a process
        slot.of_process(i32::MAX);
        assert_eq!(wait(slot), "the process that encodes it ended too soon");
        slot.open(Duration::ZERO);
        slot.give_up();
        assert_eq!(wait(slot), "no process could be started to encode it");
        assert!(Slot::new(&arena, Extent { offset: 1 << 12, len: 256 }).is_none());
    }
}
