//! Append-only records, each bound to all that came before it.
//!
//! A journal is a header of 16 bytes (`FLORCJNL`, version as u32, four zeros) and records:
//!
//! ```text
//! u8   length of the kind
//! u32  length of the payload
//! [8]  BLAKE3(chain, the two lengths), first 8 bytes
//!      kind, payload (UTF-8)
//! [16] BLAKE3(chain, the two lengths, kind, payload), first 16 bytes: the chain of the next record
//! ```
//!
//! Numbers are little endian; the first chain is the hash of the file's header. The lengths have a
//! check of their own so that a damaged length is not taken for a torn tail: a torn tail may be
//! cut, damage may not.
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::{End, Journal, Record};
pub use write::{JournalWriter, is_written};

const MAGIC: &[u8; 8] = b"FLORCJNL";
const VERSION: u32 = 1;
const HEADER_LEN: u64 = 16;
const LENGTHS: usize = 5;
const CHECK: usize = 8;
const CHAIN: usize = 16;
/// Bytes of a record besides its kind and payload.
const FRAME: u64 = (LENGTHS + CHECK + CHAIN) as u64;

type Chain = [u8; CHAIN];

fn header() -> [u8; HEADER_LEN as usize] {
    let mut bytes = [0u8; HEADER_LEN as usize];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes
}

fn shorten<const N: usize>(hasher: &blake3::Hasher) -> [u8; N] {
    let mut short = [0u8; N];
    short.copy_from_slice(&hasher.finalize().as_bytes()[..N]);
    short
}

fn first_chain() -> Chain {
    shorten(blake3::Hasher::new().update(&header()))
}

fn check_of(chain: &Chain, lengths: &[u8; LENGTHS]) -> [u8; CHECK] {
    shorten(blake3::Hasher::new().update(chain).update(lengths))
}

fn next_chain(chain: &Chain, lengths: &[u8; LENGTHS], body: &[u8]) -> Chain {
    shorten(blake3::Hasher::new().update(chain).update(lengths).update(body))
}
