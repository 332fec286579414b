//! A checkpoint that is larger than the memory that it may take is handed over in pieces: consecutive parts of what its extent would
//! hold. The training stands still until the last one is staged, since the state must be that of one instant. The writer's side is in
//! `pieces`.
use std::time::{Duration, Instant};

use super::arena::Extent;
use super::recorder::{Receipt, Recorder};
use super::staged::{self, Part};
use super::wire::Command;
use super::writer_link::WriterLink;
use crate::locks::lock;

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
