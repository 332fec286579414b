//! Which parts of a checkpoint in pieces are worth a hash before any of them is written.
//!
//! A part that is larger than a piece is written as it comes, and its name is known when all of it is: by then the disk has it again,
//! also where nothing of it changed (a frozen layer, a dataset's table). To hash it first costs the training half a second for each
//! GB and core, for nothing where it did change, as weights do. So it is hashed first where it may be equal to one that was seen:
//! where a sample of both is equal. A sample that differs proves that the part does; one that is equal proves nothing, the hash does.
use std::collections::HashSet;

use crate::store::ChunkHash;

/// How many stretches of a part are looked at, and how long each is, in bytes.
const STRETCHES: usize = 64;
const STRETCH: usize = 4096;
/// So many samples are remembered at most, of 32 bytes each; then those that come are all that is known.
const MOST: usize = 1 << 16;

/// Samples of the large parts of this run.
#[derive(Debug, Default)]
pub(super) struct Seen {
    samples: HashSet<ChunkHash>,
    /// Whether a checkpoint was handed over in pieces: an earlier run may have written the parts of the first one.
    any: bool,
}

impl Seen {
    /// Whether the store may have this part. Remembers it.
    pub fn may_be_known(&mut self, part: &[u8]) -> bool {
        if self.samples.len() >= MOST {
            self.samples.clear();
        }
        !self.samples.insert(sample(part)) || !self.any
    }

    /// A checkpoint is handed over.
    pub fn end_checkpoint(&mut self) {
        self.any = true;
    }
}

fn sample(part: &[u8]) -> ChunkHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(part.len() as u64).to_le_bytes());
    let last = part.len().saturating_sub(STRETCH);
    for start in (0..STRETCHES).map(|number| number * last / (STRETCHES - 1)) {
        hasher.update(part.get(start..part.len().min(start + STRETCH)).unwrap_or_default());
    }
    ChunkHash(*hasher.finalize().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_equal_is_hashed_first() {
        let mut seen = Seen::default();
        let part: Vec<u8> = (0..3 << 20).map(|n: usize| (n >> 9) as u8).collect();
        // an earlier run may have it
        assert!(seen.may_be_known(&part));
        seen.end_checkpoint();
        assert!(seen.may_be_known(&part));
        let mut other = part.clone();
        // training changes all of it, so the first byte and the last, too
        for place in [0, part.len() - 1] {
            other[place] ^= 1;
            assert!(!seen.may_be_known(&other) && seen.may_be_known(&other));
        }
        assert!(!seen.may_be_known(&part[1..]));
        // what lies between the stretches is not looked at: the hash decides
        other.clone_from(&part);
        other[STRETCH] ^= 1;
        assert!(seen.may_be_known(&other));
        assert!(!seen.may_be_known(&[]) && seen.may_be_known(&[]));
    }
}
