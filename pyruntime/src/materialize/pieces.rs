//! A checkpoint that is larger than the memory that it may take is handed over in pieces: consecutive parts of what its extent would
//! hold. The training stands still until the last one is staged, since the state must be that of one instant.
use std::time::{Duration, Instant};

use super::arena::Extent;
use super::commit::{Committer, Gathering};
use super::recorder::{Receipt, Recorder};
use super::staged::{self, Part};
use super::wire::{Command, Done};
use super::writer_link::WriterLink;
use crate::locks::lock;
use crate::store::ChunkHash;
use crate::store::pack::thread_cpu_s;

/// No piece is smaller, but the last.
const LEAST: usize = 8 << 20;
/// While one piece is written, the next one is copied.
const AT_ONCE: usize = 2;
/// When the disk takes nothing for so long, the checkpoint is lost and the training goes on.
const PATIENCE: Duration = Duration::from_secs(30);

impl Recorder {
    /// As [`Recorder::submit`], in pieces of staging memory; waits for the disk. None also where no piece is taken in time.
    ///
    /// # Safety
    /// Every part must be readable, and not change, until the call returns.
    pub unsafe fn submit_in_pieces(&self, header: &str, parts: &[Part]) -> Option<Receipt> {
        let start = Instant::now();
        if self.takes_no_pieces() {
            return None;
        }
        let _staging = lock(&self.staging);
        let whole = staged::staged_len(header, parts)?;
        let (seq, most) = {
            let mut link = lock(&self.link);
            link.exchange();
            let most = link.space.usual() / AT_ONCE;
            if !link.is_open() || most < LEAST.max(staged::front_of(header, parts).len()) {
                return None;
            }
            (link.number_in_pieces(), most)
        };
        let ends = staged::ends(header, parts);
        let mut from = 0;
        while from < whole {
            let Some(extent) = self.next_piece(until_a_part_ends(&ends, from, most)) else {
                lock(&self.link).send(&Command::Piece { seq, offset: 0, len: 0 });
                return None;
            };
            let len = until_a_part_ends(&ends, from, extent.len);
            // SAFETY: the caller promises the parts, the space gives each extent away once
            let copied = unsafe { staged::write_range(&self.arena, extent, header, parts, from, len) };
            debug_assert!(copied, "a piece has the length that was asked for");
            let mut link = lock(&self.link);
            link.totals.bytes_staged += len as u64;
            link.send(&Command::Piece { seq, offset: extent.offset, len });
            from += len;
        }
        let bytes = parts.iter().map(|part| part.len).sum::<usize>() + header.len();
        lock(&self.link).faults.begin_quiet();
        Some(Receipt { seq, bytes, stall_s: start.elapsed().as_secs_f64() })
    }

    /// Memory for a piece, as soon as there is some.
    fn next_piece(&self, most: usize) -> Option<Extent> {
        let mut waited = Instant::now();
        let mut before = usize::MAX;
        loop {
            {
                let mut link = lock(&self.link);
                link.exchange();
                if !link.is_open() {
                    return None;
                }
                let sizes = std::iter::successors(Some(most), |len| (*len > LEAST).then_some(*len / 2));
                if let Some(extent) = sizes.filter(|len| *len >= LEAST.min(most)).find_map(|len| link.take_usual(len)) {
                    return Some(extent);
                }
                // as long as the disk takes something, it is waited for
                if std::mem::replace(&mut before, link.waiting()) > link.waiting() {
                    waited = Instant::now();
                }
            }
            if waited.elapsed() > PATIENCE {
                return None;
            }
            WriterLink::wait(&self.ends, PATIENCE);
        }
    }
}

/// How long the piece from `from` on is, which has at most so many bytes: it ends where a part does, if one does. A chunk that is
/// in one piece is compressed if that pays, and written only if the store does not have it.
fn until_a_part_ends(ends: &[usize], from: usize, most: usize) -> usize {
    let reached = ends.partition_point(|end| *end <= from.saturating_add(most));
    match reached.checked_sub(1).and_then(|last| ends.get(last)) {
        Some(end) if *end > from => end - from,
        _ => most,
    }
}

/// The writer's side of a checkpoint that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    open: Option<Open>,
}

/// A checkpoint of which some pieces are there.
#[derive(Debug)]
struct Open {
    seq: u64,
    header: String,
    /// Where each part begins and ends in the whole.
    parts: Vec<(usize, usize)>,
    /// How much of the whole is there.
    at: usize,
    /// The part that comes next, or of which a piece is there.
    next: usize,
    hasher: blake3::Hasher,
    gathering: Gathering,
    done: Done,
}

impl Pieces {
    /// The next piece. What became of the checkpoint, when it was the last one; `None` before.
    pub fn take(&mut self, committer: &mut Committer, seq: u64, piece: Option<&[u8]>) -> Option<Done> {
        let start = thread_cpu_s();
        let Some(piece) = piece.filter(|piece| !piece.is_empty()) else {
            let done = self.open.take().map_or_else(Done::default, |open| open.done);
            return Some(Done { seq, error: Some(done.error.unwrap_or_else(|| SLOW.to_owned())), ..done });
        };
        let open = match self.open.take().filter(|open| open.seq == seq) {
            Some(open) => open,
            // only a defect of ours leads to a piece without a layout; it cannot be told which one is the last
            None => {
                committer.flush();
                Open::new(seq, piece)?
            }
        };
        let open = self.open.insert(open);
        if open.done.error.is_none()
            && let Err(error) = open.add(committer, piece)
        {
            (open.done.errno, open.done.error) = (error.errno(), Some(error.to_string()));
            open.gathering = Gathering::default();
        }
        open.at += piece.len();
        let is_over = open.parts.last().is_none_or(|(_, end)| open.at >= *end);
        open.done.cpu_s += thread_cpu_s() - start;
        if !is_over {
            return None;
        }
        let mut open = self.open.take()?;
        if open.done.error.is_none() {
            let start = thread_cpu_s();
            let gathering = std::mem::take(&mut open.gathering);
            if let Err(error) = committer.conclude(gathering, &open.header, seq, &mut open.done) {
                (open.done.errno, open.done.error) = (error.errno(), Some(error.to_string()));
            }
            open.done.cpu_s += thread_cpu_s() - start;
        }
        Some(open.done)
    }
}

const SLOW: &str = "the disk took nothing of it for too long";

impl Open {
    fn new(seq: u64, first: &[u8]) -> Option<Open> {
        let (header, parts) = staged::layout(first)?;
        Some(Open {
            seq,
            header: header.to_owned(),
            parts,
            at: 0,
            next: 0,
            hasher: blake3::Hasher::new(),
            gathering: Gathering::default(),
            done: Done { seq, ..Done::default() },
        })
    }

    /// Adds what a piece holds of each part.
    fn add(&mut self, committer: &mut Committer, piece: &[u8]) -> crate::store::Result<()> {
        let (begin, end) = (self.at, self.at + piece.len());
        while let Some(&(start, stop)) = self.parts.get(self.next) {
            if start.max(begin) >= end && stop > end {
                break;
            }
            let bytes = piece.get(start.max(begin) - begin..stop.min(end) - begin).unwrap_or_default();
            let left: usize = self.parts.last().map_or(0, |(_, last)| last.saturating_sub(start));
            if start >= begin && stop <= end {
                committer.gather(&mut self.gathering, ChunkHash::of(bytes), bytes, left as u64)?;
            } else {
                self.hasher.update(bytes);
                committer.gather_part(&mut self.gathering, bytes, left as u64)?;
                if stop > end {
                    break;
                }
                let hash = ChunkHash(*std::mem::take(&mut self.hasher).finalize().as_bytes());
                self.gathering.end_chunk(hash, stop - start);
            }
            self.next += 1;
        }
        Ok(())
    }
}
