//! How one checkpoint lies in its extent.
//!
//! u64 length of the header, u64 number of parts, u64 length of each part, the header (JSON), then
//! each part at the next multiple of 64 bytes. Part 0 is the object graph, the others are the
//! leaves in order. Only ever read on the machine that wrote it.
use std::str;

use super::arena::{ALIGNMENT, Extent, Mapping};

const WORD: usize = 8;

/// Memory of the caller that becomes one part.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Where it begins. May be anything when `len` is zero.
    pub address: usize,
    /// Its length in bytes.
    pub len: usize,
}

impl Part {
    /// Borrowed bytes as a part; the caller sees to it that they live long enough.
    pub fn of(bytes: &[u8]) -> Part {
        Part { address: bytes.as_ptr() as usize, len: bytes.len() }
    }
}

/// The length of the extent for a header and parts, in bytes; `None` when it does not fit a machine
/// word.
pub fn staged_len(header: &str, parts: &[Part]) -> Option<usize> {
    parts.iter().try_fold(front_len(header.len(), parts.len())?, |end, part| aligned(end)?.checked_add(part.len))
}

/// Copies header and parts into an extent of at least [`staged_len`] bytes. False when they do not
/// fit.
///
/// # Safety
/// Every part must be readable, and nobody else may use the extent meanwhile.
pub unsafe fn write(mapping: &Mapping, extent: Extent, header: &str, parts: &[Part]) -> bool {
    if staged_len(header, parts).is_none_or(|len| len > extent.len) {
        return false;
    }
    let mut front = Vec::with_capacity((2 + parts.len()) * WORD + header.len());
    for word in [header.len(), parts.len()].into_iter().chain(parts.iter().map(|part| part.len)) {
        front.extend_from_slice(&(word as u64).to_le_bytes());
    }
    front.extend_from_slice(header.as_bytes());
    // SAFETY: `front` is ours, the target is inside the extent
    let mut fits = unsafe { mapping.write(extent.offset, front.as_ptr(), front.len()) };
    let mut end = front.len();
    for part in parts {
        end = end.next_multiple_of(ALIGNMENT);
        if part.len > 0 {
            // SAFETY: the caller promises that the part is readable, the target is inside the
            // extent
            fits &= unsafe { mapping.write(extent.offset + end, part.address as *const u8, part.len) };
        }
        end += part.len;
    }
    fits
}

/// A checkpoint in its extent.
#[derive(Debug)]
pub struct Staged<'a> {
    /// The header, JSON text.
    pub header: &'a str,
    /// The object graph, then the leaves.
    pub parts: Vec<&'a [u8]>,
}

impl<'a> Staged<'a> {
    /// Finds header and parts in the bytes of an extent; `None` when they are not laid out as
    /// above.
    pub fn parse(bytes: &'a [u8]) -> Option<Staged<'a>> {
        let header_len = word(bytes, 0)?;
        let count = word(bytes, 1)?;
        let front = front_len(header_len, count)?;
        let header = str::from_utf8(bytes.get(front - header_len..front)?).ok()?;
        let mut end = front;
        let mut parts = Vec::new();
        for number in 0..count {
            let start = aligned(end)?;
            end = start.checked_add(word(bytes, 2 + number)?)?;
            parts.push(if start == end { &[][..] } else { bytes.get(start..end)? });
        }
        Some(Staged { header, parts })
    }
}

fn front_len(header_len: usize, parts: usize) -> Option<usize> {
    parts.checked_add(2)?.checked_mul(WORD)?.checked_add(header_len)
}

fn aligned(offset: usize) -> Option<usize> {
    offset.checked_next_multiple_of(ALIGNMENT)
}

fn word(bytes: &[u8], number: usize) -> Option<usize> {
    let start = number.checked_mul(WORD)?;
    let bytes: [u8; WORD] = bytes.get(start..start.checked_add(WORD)?)?.try_into().ok()?;
    usize::try_from(u64::from_le_bytes(bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_found() {
        let mapping = Mapping::new(1 << 16).unwrap();
        let leaves: [&[u8]; 4] = [b"graph", &[3; 1000], b"", &[9; 64]];
        let parts = leaves.map(Part::of);
        let len = staged_len("{\"é\": 1}", &parts).unwrap();
        let extent = Extent { offset: 128, len };
        // SAFETY: the parts live, the mapping is ours
        assert!(unsafe { write(&mapping, extent, "{\"é\": 1}", &parts) });
        // SAFETY: nobody writes any more
        let bytes = unsafe { mapping.bytes(128, len) }.unwrap();
        let staged = Staged::parse(bytes).unwrap();
        assert_eq!((staged.header, &staged.parts[..]), ("{\"é\": 1}", &leaves[..]));
        assert!((0..len).all(|short| Staged::parse(&bytes[..short]).is_none()));
        // SAFETY: as above
        assert!(!unsafe { write(&mapping, Extent { offset: 0, len: 64 }, "{}", &parts) });
    }
}
