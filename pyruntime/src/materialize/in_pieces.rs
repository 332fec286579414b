//! A checkpoint that is larger than the memory that it may take is handed over in pieces: consecutive parts of what its extent would
//! hold. The training stands still until the last one is staged, since the state must be that of one instant. The writer's side is in
//! `pieces`.
use std::time::{Duration, Instant};

use super::arena::Extent;
use super::recorder::{Receipt, Recorder};
use super::staged::{self, Part, Remote};
use super::wire::Command;
use super::writer_link::WriterLink;
use crate::locks::lock;
use crate::store::{ChunkHash, fill};

/// No piece is smaller, but the last.
const LEAST: usize = 8 << 20;
/// While one piece is written, the next one is copied.
const AT_ONCE: usize = 2;
/// When the disk takes nothing for so long, the checkpoint is lost and the training goes on.
const PATIENCE: Duration = Duration::from_secs(30);

impl Recorder {
    /// As [`Recorder::submit`], in pieces of staging memory; waits for the disk. None also where no piece is taken in time. What
    /// is in no memory of ours is brought by `fetch`, stretch by stretch, to the address that it is given; where it says no, the checkpoint is lost.
    ///
    /// # Safety
    /// Every other part must be readable, and not change, until the call returns.
    pub unsafe fn submit_in_pieces(
        &self,
        header: &str,
        parts: &[Part],
        mut fetch: impl FnMut(Remote, usize) -> bool,
    ) -> Option<Receipt> {
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
            let seq = link.number();
            link.in_pieces.push_back(seq);
            (seq, most)
        };
        let ends = staged::ends(header, parts);
        let mut from = 0;
        while from < whole {
            // SAFETY: the caller promises the parts
            let next = unsafe { self.hand_over(seq, header, parts, &ends, (from, most), &mut fetch) };
            let Some(end) = next else {
                lock(&self.link).send(&Command::Piece { seq, offset: 0, len: 0 });
                return None;
            };
            from = end;
        }
        lock(&self.seen).end_checkpoint();
        let bytes = parts.iter().map(|part| part.len).sum::<usize>() + header.len();
        lock(&self.link).faults.begin_quiet();
        Some(Receipt { seq, bytes, stall_s: start.elapsed().as_secs_f64() })
    }

    /// Hands over what comes next, `from` on: where that ends. None where the writer does not take it in time.
    ///
    /// # Safety
    /// As for [`Recorder::submit_in_pieces`].
    unsafe fn hand_over(
        &self,
        seq: u64,
        header: &str,
        parts: &[Part],
        ends: &[usize],
        (from, most): (usize, usize),
        fetch: &mut impl FnMut(Remote, usize) -> bool,
    ) -> Option<usize> {
        let number = ends.partition_point(|end| *end <= from);
        let (part, end) = (parts.get(number)?, *ends.get(number)?);
        // it begins here, and behind the first piece, which says what the parts are
        let begins = number > 0 && ends[number - 1] == from;
        let is_large = part.len > most;
        if begins && is_large && !part.is_elsewhere() {
            // SAFETY: the caller promises the parts
            let bytes = unsafe { part.bytes() };
            if lock(&self.seen).may_be_known(bytes) && self.is_stored(seq, fill::hash(bytes))? {
                return Some(end);
            }
        }
        // a part that fits into a piece waits for one
        let least = if is_large { LEAST } else { (end - from).min(most) };
        let extent = self.next_piece(until_a_part_ends(ends, from, most), least)?;
        let len = until_a_part_ends(ends, from, extent.len);
        // SAFETY: the caller promises the parts, the space gives each extent away once
        let copied = unsafe { staged::write_range(&self.arena, extent, header, parts, from, len) };
        debug_assert!(copied, "a piece has the length that was asked for");
        let is_whole = staged::remote(extent, header, parts, from, len)
            .into_iter()
            .all(|remote| self.arena.address(remote.offset, remote.len).is_some_and(|address| fetch(remote, address)));
        let mut link = lock(&self.link);
        if !is_whole {
            link.space.untake();
            return None;
        }
        link.totals.bytes_staged += len as u64;
        link.send(&Command::Piece { seq, offset: extent.offset, len });
        Some(from + len)
    }

    /// Memory for a piece of so many bytes, or of `least`, as soon as there is some.
    fn next_piece(&self, most: usize, least: usize) -> Option<Extent> {
        let least = least.min(most);
        let sizes = std::iter::successors(Some(most), |len| (*len > least).then_some((*len / 2).max(least)));
        self.wait_for(|link| sizes.clone().find_map(|len| link.take_usual(len)))
    }

    /// Whether the store has the part that comes next, which then is part of the checkpoint.
    fn is_stored(&self, seq: u64, hash: ChunkHash) -> Option<bool> {
        lock(&self.link).send(&Command::Ask { seq, hash });
        self.wait_for(|link| link.has.take_if(|(of, _)| *of == seq).map(|(_, has)| has))
    }

    /// What the writer is waited for, as long as it goes on.
    fn wait_for<T>(&self, mut found: impl FnMut(&mut WriterLink) -> Option<T>) -> Option<T> {
        let mut waited = Instant::now();
        let mut before = usize::MAX;
        loop {
            {
                let mut link = lock(&self.link);
                link.exchange();
                if !link.is_open() {
                    return None;
                }
                if let Some(found) = found(&mut link) {
                    return Some(found);
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
