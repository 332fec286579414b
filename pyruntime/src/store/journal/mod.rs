//! Append-only records, each bound to all that came before it.
//!
//! A journal is a header of 16 bytes (`FLORCJNL`, version as u32, four zeros) and records:
//!
//! ```text
//! u8   length of the kind
//! u32  length of the payload
//! [8]  BLAKE3(chain, the two lengths), first 8 bytes
//!      kind, payload (UTF-8)
//! [16] seal: keyed BLAKE3(seal before it, the two lengths, kind, payload), first 16 bytes; zeros without a key
//! [16] BLAKE3(chain, the two lengths, kind, payload, seal), first 16 bytes: the chain of the next record
//! ```
//!
//! Numbers are little endian; the first chain is the hash of the file's header, the first seal its keyed hash. The
//! lengths have a check of their own so that a damaged length is not taken for a torn tail: a torn tail may be
//! cut, damage may not. Anyone can check the chain: it finds damage. Only who has the key can make the seals: they say
//! who wrote it. Version 1 has no seals.
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::{End, Journal, Record};
pub use write::{JournalWriter, flock, is_written};

const MAGIC: &[u8; 8] = b"FLORCJNL";
/// What is written.
const VERSION: u32 = 2;
/// The first version whose records carry seals.
const SEALED: u32 = 2;
const HEADER_LEN: u64 = 16;
const LENGTHS: usize = 5;
const CHECK: usize = 8;
const CHAIN: usize = 16;
const SEAL: usize = 16;

type Chain = [u8; CHAIN];
type Seal = [u8; SEAL];

/// What the journals of one user are sealed with.
pub type Key = [u8; 32];

/// Bytes of a record's seal.
fn seal_len(version: u32) -> usize {
    if version >= SEALED { SEAL } else { 0 }
}

/// Bytes of a record besides its kind and payload.
fn frame(version: u32) -> u64 {
    (LENGTHS + CHECK + seal_len(version) + CHAIN) as u64
}

fn header(version: u32) -> [u8; HEADER_LEN as usize] {
    let mut bytes = [0u8; HEADER_LEN as usize];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    bytes
}

fn shorten<const N: usize>(hasher: &blake3::Hasher) -> [u8; N] {
    let mut short = [0u8; N];
    short.copy_from_slice(&hasher.finalize().as_bytes()[..N]);
    short
}

fn first_chain(version: u32) -> Chain {
    shorten(blake3::Hasher::new().update(&header(version)))
}

fn first_seal(key: Option<&Key>, version: u32) -> Seal {
    key.map_or([0; SEAL], |key| shorten(blake3::Hasher::new_keyed(key).update(&header(version))))
}

fn next_seal(key: Option<&Key>, seal: &Seal, lengths: &[u8; LENGTHS], body: &[u8]) -> Seal {
    key.map_or([0; SEAL], |key| shorten(blake3::Hasher::new_keyed(key).update(seal).update(lengths).update(body)))
}

fn check_of(chain: &Chain, lengths: &[u8; LENGTHS]) -> [u8; CHECK] {
    shorten(blake3::Hasher::new().update(chain).update(lengths))
}

/// `body` with its seal.
fn next_chain(chain: &Chain, lengths: &[u8; LENGTHS], body: &[u8]) -> Chain {
    shorten(blake3::Hasher::new().update(chain).update(lengths).update(body))
}
