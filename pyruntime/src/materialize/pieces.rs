//! The writer's side of a checkpoint that arrives in pieces (`in_pieces`): each chunk is written as its bytes come.
use super::commit::{Committer, Gathering};
use super::staged;
use super::wire::Done;
use crate::store::ChunkHash;
use crate::store::pack::thread_cpu_s;

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
        open.try_add(committer, piece);
        open.at += piece.len();
        open.done.cpu_s += thread_cpu_s() - start;
        self.conclude(committer)
    }

    /// Whether the store has the next part, which then is part of the checkpoint. What became of that, when the part was the last.
    pub fn ask(&mut self, committer: &mut Committer, seq: u64, hash: ChunkHash) -> (bool, Option<Done>) {
        let open = self.open.as_mut().filter(|open| open.seq == seq && open.done.error.is_none());
        let Some((open, (start, stop))) =
            open.and_then(|open| open.parts.get(open.next).copied().map(|part| (open, part)))
        else {
            return (false, None);
        };
        // a store that cannot be read has nothing; what is written to it will fail, and say why
        if open.at > start || !committer.gather_known(&mut open.gathering, hash, stop - start).unwrap_or(false) {
            return (false, None);
        }
        open.next += 1;
        open.at = stop;
        // empty parts that follow have their place there, too
        open.try_add(committer, &[]);
        (true, self.conclude(committer))
    }

    /// Makes the checkpoint durable, if all of it is there.
    fn conclude(&mut self, committer: &mut Committer) -> Option<Done> {
        let is_over = |open: &mut Open| open.parts.last().is_none_or(|(_, end)| open.at >= *end);
        let Open { header, gathering, mut done, .. } = self.open.take_if(is_over)?;
        if done.error.is_none() {
            let start = thread_cpu_s();
            let seq = done.seq;
            if let Err(error) = committer.conclude(gathering, &header, seq, &mut done) {
                (done.errno, done.error) = (error.errno(), Some(error.to_string()));
            }
            done.cpu_s += thread_cpu_s() - start;
        }
        Some(done)
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

    /// As `add`; after an error, nothing more is written.
    fn try_add(&mut self, committer: &mut Committer, piece: &[u8]) {
        if self.done.error.is_none()
            && let Err(error) = self.add(committer, piece)
        {
            (self.done.errno, self.done.error) = (error.errno(), Some(error.to_string()));
            self.gathering = Gathering::default();
        }
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
