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
    /// Where it begins. May be anything when `len` is zero. [`Part::ELSEWHERE`]: in no memory of ours.
    pub address: usize,
    /// Its length in bytes.
    pub len: usize,
}

/// A stretch of a part that is in no memory of ours, and where it belongs.
#[derive(Debug, Clone, Copy)]
pub struct Remote {
    /// Which part.
    pub part: usize,
    /// Where in the part it begins, in bytes.
    pub from: usize,
    /// How many bytes it has.
    pub len: usize,
    /// Where they belong in the arena.
    pub offset: usize,
}

impl Part {
    /// Borrowed bytes as a part; the caller sees to it that they live long enough.
    pub fn of(bytes: &[u8]) -> Part {
        Part { address: bytes.as_ptr() as usize, len: bytes.len() }
    }

    /// The address of what a device has.
    pub const ELSEWHERE: usize = 0;

    /// So many bytes that are in no memory of ours.
    pub fn elsewhere(len: usize) -> Part {
        Part { address: Part::ELSEWHERE, len }
    }

    /// Whether it has bytes that are in no memory of ours.
    pub fn is_elsewhere(&self) -> bool {
        self.address == Part::ELSEWHERE && self.len > 0
    }

    /// The part as bytes.
    ///
    /// # Safety
    /// It must be readable, and not change, while the slice lives.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the caller's promise
        unsafe { std::slice::from_raw_parts(self.address as *const u8, self.len) }
    }
}

/// The length of the extent for a header and parts, in bytes; `None` when it does not fit a machine
/// word.
pub fn staged_len(header: &str, parts: &[Part]) -> Option<usize> {
    parts.iter().try_fold(front_len(header.len(), parts.len())?, |end, part| aligned(end)?.checked_add(part.len))
}

/// Bytes of the extent that so many parts need at most, which have so many bytes together.
pub fn most_staged(header_len: usize, parts: usize, nbytes: usize) -> usize {
    let padded = parts.saturating_mul(ALIGNMENT - 1).saturating_add(nbytes);
    front_len(header_len, parts).unwrap_or(usize::MAX).saturating_add(padded).saturating_add(ALIGNMENT - 1)
}

/// Copies header and parts into an extent of at least [`staged_len`] bytes, on at most so many cores. False when they do
/// not fit.
///
/// # Safety
/// Every part must be readable, and nobody else may use the extent meanwhile.
pub unsafe fn write(mapping: &Mapping, extent: Extent, header: &str, parts: &[Part], copiers: usize) -> bool {
    // SAFETY: the caller's promise
    staged_len(header, parts)
        .is_some_and(|len| unsafe { copy_range(mapping, extent, header, parts, (0, len), copiers) })
}

/// What of the `len` bytes from the byte `from` on is in no memory of ours.
pub fn remote(extent: Extent, header: &str, parts: &[Part], from: usize, len: usize) -> Vec<Remote> {
    let stretches = ends(header, parts).into_iter().zip(parts).enumerate();
    let remote = stretches.filter(|(_, (_, part))| part.is_elsewhere()).filter_map(|(number, (end, part))| {
        let start = end - part.len;
        let (first, last) = (start.max(from), end.min(from + len));
        let offset = extent.offset + (first.max(from) - from);
        (first < last).then(|| Remote { part: number, from: first - start, len: last - first, offset })
    });
    remote.collect()
}

/// Copies `len` bytes, from the byte `from` on, of what [`write()`] would, but for those of [`remote()`]. False when they do not
/// fit.
///
/// # Safety
/// As for [`write()`].
pub unsafe fn write_range(
    mapping: &Mapping,
    extent: Extent,
    header: &str,
    parts: &[Part],
    from: usize,
    len: usize,
) -> bool {
    // SAFETY: the caller's promise
    unsafe { copy_range(mapping, extent, header, parts, (from, len), MAX_COPIERS) }
}

unsafe fn copy_range(
    mapping: &Mapping,
    extent: Extent,
    header: &str,
    parts: &[Part],
    (from, len): (usize, usize),
    copiers: usize,
) -> bool {
    if len > extent.len {
        return false;
    }
    let front = front_of(header, parts);
    let (mut copies, mut end) = (Vec::with_capacity(parts.len() + 1), 0usize);
    for part in std::iter::once(&Part::of(&front)).chain(parts) {
        let start = if end == 0 { 0 } else { end.next_multiple_of(ALIGNMENT) };
        end = start + part.len;
        let (first, last) = (start.max(from), end.min(from + len));
        if first < last && !part.is_elsewhere() {
            let cut = Part { address: part.address + (first - start), len: last - first };
            copies.push((cut, extent.offset + (first - from)));
        }
    }
    // SAFETY: the caller promises that the parts are readable, `front` is ours, the targets are inside the extent and apart
    unsafe { copy_all(mapping, &copies, copiers) }
}

/// Where each part ends in what [`write()`] writes.
pub(super) fn ends(header: &str, parts: &[Part]) -> Vec<usize> {
    let mut end = front_len(header.len(), parts.len()).unwrap_or_default();
    let after = |part: &Part| {
        end = end.next_multiple_of(ALIGNMENT) + part.len;
        end
    };
    parts.iter().map(after).collect()
}

/// What comes before the parts.
pub(super) fn front_of(header: &str, parts: &[Part]) -> Vec<u8> {
    let mut front = Vec::with_capacity((2 + parts.len()) * WORD + header.len());
    for word in [header.len(), parts.len()].into_iter().chain(parts.iter().map(|part| part.len)) {
        front.extend_from_slice(&(word as u64).to_le_bytes());
    }
    front.extend_from_slice(header.as_bytes());
    front
}

/// Copies parts to their offsets, on several cores when there is much to copy: the caller's own threads stand still
/// meanwhile.
///
/// # Safety
/// Every part must be readable, and nobody else may use the targets meanwhile.
unsafe fn copy_all(mapping: &Mapping, copies: &[(Part, usize)], most: usize) -> bool {
    let total: usize = copies.iter().map(|(part, _)| part.len).sum();
    let mut copiers = most.min(total / LEAST_PER_COPIER).max(1);
    if copiers > 1 {
        // asked only here: it reads files of the control group
        copiers = copiers.min(std::thread::available_parallelism().map_or(1, usize::from));
    }
    let shares = shares(copies, total.div_ceil(copiers));
    let copy = |share: &[(Part, usize)]| {
        share.iter().all(|(part, offset)| {
            // SAFETY: the caller's promise, for one share
            unsafe { mapping.write(*offset, part.address as *const u8, part.len) }
        })
    };
    let Some((own, others)) = shares.split_first() else { return true };
    std::thread::scope(|scope| {
        let spawned: Vec<_> = others
            .iter()
            .map(|share| (share, std::thread::Builder::new().spawn_scoped(scope, || copy(share))))
            .collect();
        let mut fits = copy(own);
        for (share, thread) in spawned {
            // where no thread can be had, the caller copies its share, too
            fits &= match thread {
                Ok(thread) => thread.join().unwrap_or(false),
                Err(_) => copy(share),
            };
        }
        fits
    })
}

/// At most this many cores copy: memory is not faster with more.
pub const MAX_COPIERS: usize = 4;
/// Less than this is copied before a thread has started.
const LEAST_PER_COPIER: usize = 8 << 20;

/// Copies cut into shares of at most so many bytes.
fn shares(copies: &[(Part, usize)], most: usize) -> Vec<Vec<(Part, usize)>> {
    let mut shares: Vec<Vec<(Part, usize)>> = Vec::new();
    let mut room = 0;
    for &(part, offset) in copies {
        let mut at = 0;
        while at < part.len {
            if room == 0 {
                shares.push(Vec::new());
                room = most.max(1);
            }
            let len = room.min(part.len - at);
            if let Some(share) = shares.last_mut() {
                share.push((Part { address: part.address + at, len }, offset + at));
            }
            at += len;
            room -= len;
        }
    }
    shares
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
        let (header, places) = layout(bytes)?;
        let part = |(start, end)| if start == end { Some(&[][..]) } else { bytes.get(start..end) };
        Some(Staged { header, parts: places.into_iter().map(part).collect::<Option<_>>()? })
    }
}

/// The header, and where each part begins and ends; `None` when what comes before the parts is not there as a whole.
pub(super) fn layout(bytes: &[u8]) -> Option<(&str, Vec<(usize, usize)>)> {
    let header_len = word(bytes, 0)?;
    let count = word(bytes, 1)?;
    let front = front_len(header_len, count)?;
    let header = str::from_utf8(bytes.get(front - header_len..front)?).ok()?;
    let mut end = front;
    let mut places = Vec::new();
    for number in 0..count {
        let start = aligned(end)?;
        end = start.checked_add(word(bytes, 2 + number)?)?;
        places.push((start, end));
    }
    Some((header, places))
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
    fn no_checkpoint_needs_more_than_is_said() {
        for sizes in [&[][..], &[0], &[1, 63, 64, 65], &[7; 40]] {
            let parts: Vec<Part> = sizes.iter().map(|&len| Part { address: 0, len }).collect();
            let extent = staged_len("{}", &parts).unwrap().next_multiple_of(ALIGNMENT);
            let most = most_staged(2, parts.len(), sizes.iter().sum());
            assert!(extent <= most && most < extent + (parts.len() + 2) * ALIGNMENT, "{extent} {most}");
        }
    }

    #[test]
    fn what_is_written_is_found() {
        let mapping = Mapping::new(1 << 16).unwrap();
        let leaves: [&[u8]; 4] = [b"graph", &[3; 1000], b"", &[9; 64]];
        let parts = leaves.map(Part::of);
        let len = staged_len("{\"é\": 1}", &parts).unwrap();
        let extent = Extent { offset: 128, len };
        // SAFETY: the parts live, the mapping is ours
        assert!(unsafe { write(&mapping, extent, "{\"é\": 1}", &parts, 1) });
        // SAFETY: nobody writes any more
        let bytes = unsafe { mapping.bytes(128, len) }.unwrap();
        let staged = Staged::parse(bytes).unwrap();
        assert_eq!((staged.header, &staged.parts[..]), ("{\"é\": 1}", &leaves[..]));
        assert!((0..len).all(|short| Staged::parse(&bytes[..short]).is_none()));
        // SAFETY: as above
        assert!(!unsafe { write(&mapping, Extent { offset: 0, len: 64 }, "{}", &parts, 1) });
    }

    #[test]
    fn large_parts_are_copied_whole_by_several() {
        let large: Vec<u8> = (0..40 << 20).map(|n: usize| ((n * 31) >> 7) as u8).collect();
        let leaves: [&[u8]; 4] = [b"graph", &large[..20 << 20], &large[1..], &large[5..70]];
        let parts = leaves.map(Part::of);
        let len = staged_len("{}", &parts).unwrap();
        let mapping = Mapping::new(len + 64).unwrap();
        // SAFETY: the parts live, the mapping is ours
        assert!(unsafe { write(&mapping, Extent { offset: 64, len }, "{}", &parts, MAX_COPIERS) });
        // SAFETY: nobody writes any more
        let bytes = unsafe { mapping.bytes(64, len) }.unwrap();
        assert!(Staged::parse(bytes).unwrap().parts == leaves);
    }
}
