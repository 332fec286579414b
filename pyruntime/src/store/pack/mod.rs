//! Many chunks in one file, written once.
//!
//! ```text
//! header   FLORCPAK, version as u32, four zeros                                       16 bytes
//! chunks   one after another
//! index    per chunk: hash [32], offset u64, stored length u64, raw length u64, codec u8   57 bytes each
//! trailer  length of the index u64, BLAKE3(header, index, length of the index), FLORCEND   48 bytes
//! ```
//!
//! Numbers are little endian. Codec 0 is raw bytes, 1 is one zstd frame.
//!
//! Version 2 is for many small checkpoints: segments, one appended after another (see `segments`).
mod codec;
mod direct;
mod index;
mod read;
mod segments;
mod shared;
#[cfg(test)]
mod tests;
mod throttle;
mod write;

pub use direct::thread_cpu_s;
pub use read::Pack;
pub use shared::SharedPack;
pub use write::{PackWriter, Written};

use super::chunk::ChunkHash;

const MAGIC: &[u8; 8] = b"FLORCPAK";
const END: &[u8; 8] = b"FLORCEND";
const VERSION: u32 = 1;
/// Written segment by segment.
const SEGMENTED: u32 = 2;
/// Magic, version, zeros.
const HEADER_LEN: u64 = (MAGIC.len() + 2 * size_of::<u32>()) as u64;
/// Hash, three numbers, codec.
const ENTRY_LEN: usize = size_of::<ChunkHash>() + 3 * size_of::<u64>() + 1;
/// Length, hash, end.
const TRAILER_LEN: u64 = (size_of::<u64>() + size_of::<ChunkHash>() + END.len()) as u64;

/// Bytes that a pack of so many chunks has at most, whose content has so many bytes together.
pub fn most_packed(nbytes: u64, chunks: u64) -> u64 {
    let index = chunks.saturating_mul(ENTRY_LEN as u64);
    nbytes.saturating_add(index).saturating_add(HEADER_LEN + TRAILER_LEN)
}

/// How a chunk's bytes are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// As they are.
    Raw,
    /// As one zstd frame.
    Zstd,
}

/// One chunk in a pack. Lengths and offsets are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The chunk's name.
    pub hash: ChunkHash,
    /// Where its stored bytes begin in the file.
    pub offset: u64,
    /// How many bytes are stored.
    pub stored_len: u64,
    /// How many bytes the chunk has.
    pub raw_len: u64,
    /// How they are stored.
    pub codec: Codec,
}

impl Entry {
    /// Whether its bytes are stored as they are.
    pub fn is_raw(&self) -> bool {
        self.codec == Codec::Raw
    }

    fn encode(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.hash.0);
        for number in [self.offset, self.stored_len, self.raw_len] {
            into.extend_from_slice(&number.to_le_bytes());
        }
        into.push(match self.codec {
            Codec::Raw => 0,
            Codec::Zstd => 1,
        });
    }

    /// `None` for a codec that does not exist.
    fn decode(bytes: &[u8; ENTRY_LEN]) -> Option<Entry> {
        let mut hash = [0u8; 32];
        hash.copy_from_slice(&bytes[..32]);
        let codec = match bytes[56] {
            0 => Codec::Raw,
            1 => Codec::Zstd,
            _ => return None,
        };
        Some(Entry {
            hash: ChunkHash(hash),
            offset: number(&bytes[32..40]),
            stored_len: number(&bytes[40..48]),
            raw_len: number(&bytes[48..56]),
            codec,
        })
    }
}

/// Eight little-endian bytes; fewer count as zero above.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

fn header() -> [u8; HEADER_LEN as usize] {
    header_of(VERSION)
}

fn header_of(version: u32) -> [u8; HEADER_LEN as usize] {
    let mut bytes = [0u8; HEADER_LEN as usize];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    bytes
}

fn index_hash(index: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&header()).update(index).update(&(index.len() as u64).to_le_bytes());
    *hasher.finalize().as_bytes()
}
