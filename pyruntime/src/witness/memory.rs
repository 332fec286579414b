//! What is in memory, and which memory is shared.
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use twox_hash::{XxHash3_64, XxHash3_128};

use crate::locks::lock;

/// Memory of so many bytes or more has a digest of its own.
pub(super) const LARGE: usize = 64 << 10;
/// Up to so many bytes are read each time: a few tenths of a millisecond.
const ALWAYS: usize = 4 << 20;
/// More that looks as it did is not read again: one cache line of every page of so many bytes is looked at.
const PAGE: usize = 4 << 10;
const LINE: usize = 64;
/// So many lines at most,
const LINES: usize = 4 << 10;
/// and of more memory so many bytes in pieces that lie evenly spread: a mapped file may be larger than the memory of the machine.
const MOST: usize = 64 << 20;
const PIECE: usize = 1 << 20;
/// Digests of so many places in memory are remembered.
const MOST_KNOWN: usize = 1 << 16;

/// Digests of large memory, by address and bytes: with the sample that was taken then.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<HashMap<(usize, usize), (u64, u128)>>);

impl Known {
    /// A digest of these bytes.
    pub fn digest(&self, bytes: &[u8]) -> u128 {
        if bytes.len() <= ALWAYS {
            return XxHash3_128::oneshot(bytes);
        }
        let place = (bytes.as_ptr() as usize, bytes.len());
        let sample = sample(bytes);
        if let Some((_, known)) = lock(&self.0).get(&place).filter(|(known, _)| *known == sample) {
            return *known;
        }
        let found = if bytes.len() <= MOST { XxHash3_128::oneshot(bytes) } else { of_pieces(bytes) };
        let mut known = lock(&self.0);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(place, (sample, found));
        found
    }
}

fn sample(bytes: &[u8]) -> u64 {
    let step = PAGE.max(bytes.len() / LINES);
    let mut hash = XxHash3_64::oneshot(&bytes[bytes.len().saturating_sub(PAGE)..]);
    for page in bytes.chunks(step) {
        hash = hash.rotate_left(17) ^ XxHash3_64::oneshot_with_seed(hash, &page[..LINE.min(page.len())]);
    }
    hash
}

fn of_pieces(bytes: &[u8]) -> u128 {
    let step = bytes.len() / (MOST / PIECE);
    let all: Vec<u8> = bytes
        .chunks(step)
        .flat_map(|piece| XxHash3_128::oneshot(&piece[..PIECE.min(piece.len())]).to_le_bytes())
        .collect();
    XxHash3_128::oneshot(&all)
}

/// Memory that was met: by its first address, the end and a number.
#[derive(Debug, Default)]
pub(super) struct Spans(BTreeMap<usize, (usize, u32)>);

/// How memory lies to what was met before.
pub(super) enum Place {
    New,
    /// It begins so many bytes behind the beginning of that one, and may be longer.
    Shared {
        number: u32,
        offset: i64,
        is_within: bool,
    },
}

impl Spans {
    pub fn meet(&mut self, address: usize, len: usize) -> Place {
        let end = address + len;
        let before = self.0.range(..=address).next_back().filter(|(_, (last, _))| *last > address);
        if let Some((first, (last, number))) = before.or_else(|| self.0.range(address..end).next()) {
            let offset = address as i64 - *first as i64;
            return Place::Shared { number: *number, offset, is_within: offset >= 0 && end <= *last };
        }
        let number = self.0.len() as u32;
        self.0.insert(address, (end, number));
        Place::New
    }
}

/// The elements of an array, in the order of C, as they lie in memory.
pub(super) struct Layout {
    /// Bytes from the first element to the end of the last one, where there are no gaps and no step is negative.
    pub dense: Option<usize>,
    pub count: usize,
}

impl Layout {
    /// `strides`: in bytes.
    pub fn of(shape: &[usize], strides: &[isize], item: usize) -> Layout {
        let count = shape.iter().product::<usize>();
        let mut span = item;
        let mut is_forward = true;
        for (size, step) in shape.iter().zip(strides) {
            is_forward &= *step >= 0 || *size <= 1;
            span += size.saturating_sub(1) * step.unsigned_abs();
        }
        let dense = if count == 0 { Some(0) } else { (is_forward && span == count * item).then_some(span) };
        Layout { dense, count }
    }
}

/// Elements that lie scattered, one after the other.
///
/// # Safety
/// The memory at `address` holds an array of this shape, which nobody changes meanwhile.
pub(super) unsafe fn gather(address: usize, shape: &[usize], strides: &[isize], item: usize, out: &mut Vec<u8>) {
    let Some(((size, step), (shape, strides))) =
        shape.split_first().zip(strides.split_first()).map(|((a, b), (c, d))| ((*a, *c), (b, d)))
    else {
        // SAFETY: an element of the array
        out.extend_from_slice(unsafe { std::slice::from_raw_parts(address as *const u8, item) });
        return;
    };
    for at in 0..size {
        // SAFETY: a part of the array, as the caller promises
        unsafe { gather(address.wrapping_add_signed(at as isize * step), shape, strides, item, out) };
    }
}
