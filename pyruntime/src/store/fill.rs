//! Many chunks at once: read, checked, and put where they belong in one pass, on every core that this process may use.
//!
//! A large chunk is cut into pieces that fit into a core's cache: a piece is read to its place and hashed while it is still there.
//! BLAKE3 is a tree, so the hashes of the pieces give that of the chunk. No thread outlives the call: the script may fork.
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::thread::{self, available_parallelism};

use blake3::hazmat::{ChainingValue, HasherExt, Mode, left_subtree_len, merge_subtrees_non_root, merge_subtrees_root};

use super::chunk::ChunkHash;
use super::error::{Result, StoreError};
use super::index::Place;
use crate::locks::lock;

/// Bytes of a piece: a power of two, as the tree is cut there, and less than the cache of a core holds.
const PIECE: usize = 1 << 20;
/// A further thread for so many bytes: to start one takes as long as hashing some 100 KiB.
const PER_THREAD: usize = 2 << 20;
const MOST_THREADS: usize = 16;

/// A chunk that is wanted.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// Its name.
    pub hash: ChunkHash,
    /// Where it is in the store: one place after another is tried.
    pub places: Vec<Place>,
    /// Where it belongs, exactly as long as it is; `None`: it is only checked.
    pub memory: Option<&'a mut [u8]>,
    /// Whether the memory may hold it already. If so it is hashed, and nothing is read.
    pub may_be_there: bool,
}

/// What was done.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Chunks that were read.
    pub chunks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Chunks that were where they belong.
    pub equal: u64,
}

/// Brings every chunk to its place. What was read is checked; where the answer is an error, the memory may hold anything.
///
/// # Errors
/// When a chunk cannot be read or no place holds it intact.
pub fn fill(mut wanted: Vec<Wanted<'_>>) -> Result<Done> {
    let mut done = Done::default();
    let kept = there_already(&mut wanted);
    done.equal = kept.iter().filter(|is_kept| **is_kept).count() as u64;
    let places: Vec<Option<Place>> = wanted.iter().map(|one| one.places.first().cloned()).collect();
    let mut files = Files::default();
    let mut work = Vec::new();
    for (number, one) in wanted.iter_mut().enumerate().filter(|(number, _)| !kept[*number]) {
        let place = one.places.first().ok_or_else(|| missing(&one.hash))?;
        let len = usize::try_from(place.entry.raw_len).unwrap_or(usize::MAX);
        if one.memory.as_ref().is_some_and(|memory| memory.len() != len) {
            let why = format!("it has {len} bytes, and another number was expected");
            return Err(StoreError::damaged(format!("chunk {}", one.hash), place.pack.path(), why));
        }
        done.chunks += 1;
        done.bytes += len as u64;
        // a place that cannot be opened is found out when the chunk is read again, alone
        let source = if place.entry.is_raw() { files.open(place).ok() } else { None };
        match (source, one.memory.as_deref_mut()) {
            (Some(_), Some(memory)) => {
                let pieces = memory.chunks_mut(PIECE).enumerate();
                work.extend(pieces.map(|(index, memory)| Piece {
                    number,
                    index,
                    len: memory.len(),
                    memory: Some(memory),
                }));
            }
            (Some(_), None) => {
                let pieces = (0..len.div_ceil(PIECE)).map(|index| (index, PIECE.min(len - index * PIECE)));
                work.extend(pieces.map(|(index, len)| Piece { number, index, len, memory: None }));
            }
            (None, _) => {}
        }
    }
    let found = in_parallel(work, |piece, scratch| {
        let place = places[piece.number].as_ref().ok_or_else(|| io::Error::other("no place"))?;
        let file = files.of(place).ok_or_else(|| io::Error::other("not open"))?;
        let into = match piece.memory {
            Some(memory) => memory,
            None => {
                scratch.resize(PIECE, 0);
                &mut scratch[..piece.len]
            }
        };
        let from = piece.index * PIECE;
        place.pack.read_stored(file, &place.entry, from as u64, into)?;
        Ok(subtree(into, from))
    });
    let hashes = roots(found, |number| places[number].as_ref().map_or(0, |place| place.entry.raw_len as usize));
    for (number, one) in wanted.iter_mut().enumerate().filter(|(number, _)| !kept[*number]) {
        if hashes.get(&number) != Some(&one.hash) {
            alone(one)?;
        }
    }
    Ok(done)
}

/// Reads one chunk by itself, from any place: compressed ones, small ones, and those that were found damaged.
fn alone(one: &mut Wanted<'_>) -> Result<()> {
    let mut own = Vec::new();
    let mut first = None;
    for place in &one.places {
        let memory = match one.memory.as_deref_mut() {
            Some(memory) => memory,
            None => {
                let len = usize::try_from(place.entry.raw_len).unwrap_or(usize::MAX);
                own.clear();
                own.try_reserve_exact(len)
                    .map_err(|error| StoreError::io("read", place.pack.path())(io::Error::other(error)))?;
                own.resize(len, 0);
                &mut own
            }
        };
        match place.pack.read(&place.entry, memory) {
            Ok(()) => return Ok(()),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| missing(&one.hash)))
}

/// Which chunks are where they belong.
fn there_already(wanted: &mut [Wanted<'_>]) -> Vec<bool> {
    let mut work = Vec::new();
    for (number, one) in wanted.iter_mut().enumerate().filter(|(_, one)| one.may_be_there) {
        if let Some(memory) = one.memory.as_deref_mut() {
            let pieces = memory.chunks_mut(PIECE).enumerate();
            work.extend(pieces.map(|(index, memory)| Piece { number, index, len: memory.len(), memory: Some(memory) }));
        }
    }
    let found = in_parallel(work, |piece, _| match piece.memory {
        Some(memory) => Ok(subtree(memory, piece.index * PIECE)),
        None => Err(io::Error::other("no memory")),
    });
    let lens: Vec<usize> = wanted.iter().map(|one| one.memory.as_ref().map_or(0, |memory| memory.len())).collect();
    let hashes = roots(found, |number| lens[number]);
    wanted.iter().enumerate().map(|(number, one)| hashes.get(&number) == Some(&one.hash)).collect()
}

/// The name of a chunk in memory, on every core that this process may use.
pub fn hash(bytes: &[u8]) -> ChunkHash {
    let lens = (0..bytes.len().div_ceil(PIECE)).map(|index| (index, PIECE.min(bytes.len() - index * PIECE)));
    let work = lens.map(|(index, len)| Piece { number: 0, index, len, memory: None }).collect();
    let found = in_parallel(work, |piece, _| {
        let from = piece.index * PIECE;
        Ok(subtree(&bytes[from..from + piece.len], from))
    });
    roots(found, |_| bytes.len()).remove(&0).unwrap_or_else(|| ChunkHash::of(bytes))
}

fn missing(hash: &ChunkHash) -> StoreError {
    StoreError::damaged(format!("chunk {hash}"), Path::new("packs"), "no readable pack holds it")
}

/// A stretch of a chunk.
struct Piece<'a> {
    /// Which of the wanted chunks.
    number: usize,
    index: usize,
    len: usize,
    memory: Option<&'a mut [u8]>,
}

/// The hash of a chunk of one piece, or of a piece of several.
struct Subtree {
    whole: ChunkHash,
    part: ChainingValue,
}

fn subtree(bytes: &[u8], from: usize) -> Subtree {
    let mut hasher = blake3::Hasher::new();
    hasher.set_input_offset(from as u64).update(bytes);
    // a chunk of one piece is a whole tree, whose root is hashed in another way
    let whole = if from == 0 { hasher.finalize().into() } else { [0; 32] };
    Subtree { whole: ChunkHash(whole), part: hasher.finalize_non_root() }
}

/// The hash of each chunk, by its number, of those that have all their pieces.
fn roots(found: Vec<(usize, usize, Subtree)>, len_of: impl Fn(usize) -> usize) -> HashMap<usize, ChunkHash> {
    let mut pieces: HashMap<usize, Vec<(usize, Subtree)>> = HashMap::new();
    for (number, index, part) in found {
        pieces.entry(number).or_default().push((index, part));
    }
    let mut hashes = HashMap::new();
    for (number, mut parts) in pieces {
        parts.sort_by_key(|(index, _)| *index);
        let len = len_of(number);
        if parts.len() != len.div_ceil(PIECE) {
            continue;
        }
        let hash = match parts.as_slice() {
            [] => None,
            [(_, only)] => Some(only.whole),
            _ => {
                let parts: Vec<ChainingValue> = parts.iter().map(|(_, part)| part.part).collect();
                let (left, right) = parts.split_at(left_subtree_len(len as u64) as usize / PIECE);
                let left_len = left.len() * PIECE;
                let (left, right) = (joined(left, left_len), joined(right, len - left_len));
                Some(ChunkHash(*merge_subtrees_root(&left, &right, Mode::Hash).as_bytes()))
            }
        };
        hashes.extend(hash.map(|hash| (number, hash)));
    }
    hashes
}

fn joined(parts: &[ChainingValue], len: usize) -> ChainingValue {
    if let [only] = parts {
        return *only;
    }
    let left_len = left_subtree_len(len as u64) as usize;
    let (left, right) = parts.split_at(left_len / PIECE);
    merge_subtrees_non_root(&joined(left, left_len), &joined(right, len - left_len), Mode::Hash)
}

/// The packs that are open meanwhile.
#[derive(Default)]
struct Files(HashMap<std::path::PathBuf, File>);

impl Files {
    fn open(&mut self, place: &Place) -> Result<()> {
        if !self.0.contains_key(place.pack.path()) {
            self.0.insert(place.pack.path().to_path_buf(), place.pack.open_file()?);
        }
        Ok(())
    }

    fn of(&self, place: &Place) -> Option<&File> {
        self.0.get(place.pack.path())
    }
}

/// What was made of every piece, in any order. A piece that failed is left out: its chunk is read again, alone.
fn in_parallel<'a>(
    work: Vec<Piece<'a>>,
    make: impl Fn(Piece<'a>, &mut Vec<u8>) -> io::Result<Subtree> + Sync,
) -> Vec<(usize, usize, Subtree)> {
    let bytes: usize = work.iter().map(|piece| piece.len).sum();
    let cores = available_parallelism().map_or(1, |count| count.get()).min(MOST_THREADS);
    let helpers = cores.min(bytes / PER_THREAD).saturating_sub(1);
    let queue = Mutex::new(work.into_iter());
    let run = || {
        let (mut found, mut scratch) = (Vec::new(), Vec::new());
        loop {
            let Some(piece) = lock(&queue).next() else { return found };
            let (number, index) = (piece.number, piece.index);
            if let Ok(part) = make(piece, &mut scratch) {
                found.push((number, index, part));
            }
        }
    };
    thread::scope(|scope| {
        // where no thread can be had, this one does it all
        let others: Vec<_> = (0..helpers).map_while(|_| thread::Builder::new().spawn_scoped(scope, run).ok()).collect();
        let mut found = run();
        for other in others {
            found.extend(other.join().unwrap_or_default());
        }
        found
    })
}

#[cfg(test)]
#[path = "fill_tests.rs"]
mod tests;
