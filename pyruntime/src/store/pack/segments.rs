//! A pack that small checkpoints of one run share, so that many of them are not as many files.
//!
//! ```text
//! header   FLORCPAK, version 2 as u32, four zeros                                      16 bytes
//! segment  length of the index u64, length of the chunks u64,
//!          BLAKE3(header, where the segment begins u64, the two lengths, index)         48 bytes
//!          index, as in version 1; the chunks, one after another
//! segment  …
//! ```
//!
//! One checkpoint is one segment: a single write at the end of the file, synced before its record is written. What a crash
//! leaves unfinished at the end is of no checkpoint; it is read past, and written over by nobody.
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::index::decode_index;
use super::{ENTRY_LEN, Entry, HEADER_LEN, SEGMENTED, header_of, number};
use crate::store::error::{Result, StoreError};

/// Two lengths and a hash.
pub(super) const FRONT_LEN: u64 = (2 * size_of::<u64>() + size_of::<[u8; 32]>()) as u64;

pub(super) fn hash_of(start: u64, lengths: &[u8], index: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&header_of(SEGMENTED)).update(&start.to_le_bytes()).update(&lengths[..16]).update(index);
    *hasher.finalize().as_bytes()
}

/// The chunks of every whole segment, and what is damaged after them. An unfinished end is no damage.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn read(file: &File, len: u64, path: &Path) -> Result<(Vec<Entry>, Option<String>)> {
    let (mut entries, mut at) = (Vec::new(), HEADER_LEN);
    while len - at >= FRONT_LEN {
        let mut front = [0u8; FRONT_LEN as usize];
        file.read_exact_at(&mut front, at).map_err(StoreError::io("read", path))?;
        let (index_len, data_len) = (number(&front[..8]), number(&front[8..16]));
        let rest = len - at - FRONT_LEN;
        // checked against the file before anything is allocated
        let Some(size) = index_len.checked_add(data_len).filter(|size| *size <= rest) else { break };
        let mut index = vec![0u8; index_len as usize];
        file.read_exact_at(&mut index, at + FRONT_LEN).map_err(StoreError::io("read", path))?;
        let data = at + FRONT_LEN + index_len;
        let found = if hash_of(at, &front, &index) == front[16..] && index_len.is_multiple_of(ENTRY_LEN as u64) {
            decode_index(&index, data, data + data_len)
        } else {
            None
        };
        let Some(found) = found else {
            let why = format!("the segment at byte {at} in {} is damaged: it does not match its hash", path.display());
            // a file system may leave zeros where a crash lost what was not written
            return Ok((entries, front.iter().any(|byte| *byte != 0).then_some(why)));
        };
        entries.extend(found);
        at += FRONT_LEN + size;
    }
    Ok((entries, None))
}
