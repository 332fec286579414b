//! What a pack, or a segment of one, says that it holds.
use super::{Codec, ENTRY_LEN, Entry};

/// No zstd frame expands its bytes by more than this: a block of 128 KiB takes four bytes.
const MOST_EXPANSION: u64 = 1 << 16;

/// `None` when a chunk would lie outside `start..end` or claims more bytes than its stored
/// ones can hold.
pub(super) fn decode_index(index: &[u8], start: u64, end: u64) -> Option<Vec<Entry>> {
    let mut entries = Vec::with_capacity(index.len() / ENTRY_LEN);
    for bytes in index.chunks_exact(ENTRY_LEN) {
        let entry = Entry::decode(bytes.try_into().ok()?)?;
        let inside = entry.offset >= start && entry.offset.checked_add(entry.stored_len)? <= end;
        let sane = match entry.codec {
            Codec::Raw => entry.raw_len == entry.stored_len,
            Codec::Zstd => entry.raw_len <= entry.stored_len.saturating_mul(MOST_EXPANSION),
        };
        if !inside || !sane {
            return None;
        }
        entries.push(entry);
    }
    Some(entries)
}
