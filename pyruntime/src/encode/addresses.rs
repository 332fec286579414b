//! Whole numbers that are addresses of objects (`id(x)`, `hash(x)`, `x.data_ptr()`): in another process the objects lie elsewhere, so a
//! restored one would be compared with what it cannot equal.
//!
//! A number is taken for an address where this process has writable memory. Too many are: a state that holds one runs again,
//! which costs time, and no answer. Too few: those of a heap below 16 TiB (a Python that is not position independent) and of static
//! objects (`id(None)`), in large arrays and long texts, and as float. The hash of a tuple that holds an object is known from where the
//! script asked for it in a function with loops that florc wraps (`note_hash`); one that another function asked for is not seen.
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PyTuple};

use crate::locks::lock;

/// Where the heap and the mappings of a 64-bit Linux process lie; counters, seeds and times in seconds or milliseconds are below.
const ADDRESSES: Range<i64> = 1 << 44..1 << 48;
const ALIGNMENT: i64 = 8;
/// `hash()` of an object that defines none is its address without the low bits, which are zero.
const HASH_SHIFT: u32 = 4;

/// Longer texts are not looked through, and in shorter ones there is no room.
pub const LONGEST_TEXT: usize = 4096;
const SHORTEST_TEXT: usize = 11;

/// At most so many hashes are known.
const MOST_HASHES: usize = 1 << 16;

static ANY_HASHES: AtomicBool = AtomicBool::new(false);
static HASHES: Mutex<Option<HashSet<i64>>> = Mutex::new(None);

/// The script has a hash that was computed from an address.
pub fn note_hash(hash: i64) {
    let mut hashes = lock(&HASHES);
    let hashes = hashes.get_or_insert_default();
    if hashes.len() < MOST_HASHES {
        hashes.insert(hash);
    }
    ANY_HASHES.store(true, Ordering::Release);
}

fn is_hash(number: i64) -> bool {
    ANY_HASHES.load(Ordering::Acquire) && lock(&HASHES).as_ref().is_some_and(|hashes| hashes.contains(&number))
}

/// The addresses that a number may stand for, as itself and as a hash.
fn readings(number: i64) -> impl Iterator<Item = i64> {
    let own = (number % ALIGNMENT == 0).then_some(number);
    let hashed = number.checked_shl(HASH_SHIFT).filter(|_| number < ADDRESSES.end);
    own.into_iter().chain(hashed).filter(|address| ADDRESSES.contains(address))
}

/// What may be addresses in a text: `<Net object at 0x7f5c1c0211f0>`, `"140033456789904"`.
pub fn in_text(text: &str) -> impl Iterator<Item = i64> {
    let text = if (SHORTEST_TEXT..=LONGEST_TEXT).contains(&text.len()) { text } else { "" };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(of_address)
}

/// What may be an address in a text, by its form.
pub fn of_address(word: &str) -> Option<i64> {
    match word.strip_prefix("0x") {
        Some(digits) if (9..=12).contains(&digits.len()) => i64::from_str_radix(digits, 16).ok(),
        None if (13..=15).contains(&word.len()) && word.as_bytes()[0].is_ascii_digit() => word.parse().ok(),
        _ => None,
    }
}

/// Whether it is worth asking where this process has memory.
pub fn may_be_address(number: i64) -> bool {
    number >= ADDRESSES.start >> HASH_SHIFT && readings(number).next().is_some() || is_hash(number)
}

/// Whether one of the numbers lies in memory that this process can write, or is a hash of what does.
pub(super) fn is_any_mapped(numbers: &[i64]) -> bool {
    if numbers.is_empty() {
        return false;
    }
    if numbers.iter().any(|&number| is_hash(number)) {
        return true;
    }
    let Ok(maps) = std::fs::read("/proc/self/maps") else { return false };
    let ranges = writable(&String::from_utf8_lossy(&maps));
    numbers.iter().flat_map(|&number| readings(number)).any(|address| {
        let next = ranges.partition_point(|range| range.end <= address);
        ranges.get(next).is_some_and(|range| range.contains(&address))
    })
}

/// Whether one of these texts shows where an object of this process lies, or the hash that is made of that.
#[pyo3::pyfunction]
pub fn shows_address(texts: Vec<String>) -> bool {
    let numbers: Vec<i64> =
        texts.iter().flat_map(|text| in_text(text)).filter(|&number| may_be_address(number)).collect();
    is_any_mapped(&numbers)
}

/// From lines like `7f5c1c000000-7f5c1c021000 rw-p 00000000 00:00 0`, ascending.
fn writable(maps: &str) -> Vec<Range<i64>> {
    let range = |line: &str| {
        let (bounds, rest) = line.split_once(' ')?;
        let (start, end) = bounds.split_once('-')?;
        let number = |text| i64::from_str_radix(text, 16).ok();
        rest.starts_with("rw").then_some(number(start)?..number(end)?)
    };
    maps.lines().filter_map(range).collect()
}

/// Tuples in tuples are looked through so deep.
const DEPTH: u32 = 4;

/// Whether the hash of an object comes from an address: its own, or that of something in it.
pub fn is_from_address(object: &Bound<'_, PyAny>) -> bool {
    hashes_by_address(object, DEPTH)
}

fn hashes_by_address(object: &Bound<'_, PyAny>, depth: u32) -> bool {
    if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        return depth > 0 && tuple.iter().any(|item| hashes_by_address(&item, depth - 1));
    }
    if let Ok(set) = object.cast_exact::<PyFrozenSet>() {
        return depth > 0 && set.iter().any(|item| hashes_by_address(&item, depth - 1));
    }
    // SAFETY: both are types, which are alive; a slot is only compared
    unsafe {
        let own = ffi::PyType_GetSlot(ffi::Py_TYPE(object.as_ptr()), ffi::Py_tp_hash);
        own == ffi::PyType_GetSlot(&raw mut ffi::PyBaseObject_Type, ffi::Py_tp_hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lives_on_the_heap_is_an_address() {
        let held = Box::new([0u64; 2]);
        let address = std::ptr::from_ref(&*held) as i64;
        assert!(may_be_address(address) && is_any_mapped(&[7, address]));
        let aligned = address & !15;
        assert!(may_be_address(aligned >> HASH_SHIFT) && is_any_mapped(&[aligned >> HASH_SHIFT]));
    }

    #[test]
    fn numbers_of_scripts_are_none() {
        let times = [1_763_800_000, 1_763_800_000_123, 1_763_800_000_123_456, 1_763_800_000_123_456_789];
        for number in times.into_iter().chain([0, -1, 8, 1 << 40, i64::MAX, i64::MIN, i64::MAX & !7]) {
            assert!(!is_any_mapped(&[number]), "{number}");
        }
        assert!(!may_be_address(1_000_000_000));
        assert!(!may_be_address(1_763_800_000));
        assert!(!is_any_mapped(&[]));
    }

    #[test]
    fn texts_may_hold_addresses() {
        let found = |text| in_text(text).collect::<Vec<_>>();
        assert_eq!(found("<Net object at 0x7f5c1c0211f0>"), [0x7f5c_1c02_11f0]);
        assert_eq!(found("140033456789904"), [140_033_456_789_904]);
        assert!(found("epoch 12 loss 0.25 at 2026-11-22 0xff v1.2.3 a140033456789904").is_empty());
        assert!(found(&"0x7f5c1c0211f0 ".repeat(1000)).is_empty());
    }

    #[test]
    fn only_writable_memory_counts() {
        let maps = "1000-2000 r-xp 0 0:0 0 /bin/x\n3000-4000 rw-p 0 0:0 0\n5000-6000 ---p 0 0:0 0\nnonsense\n7000-8000 rw-s 0 0:0 0\n";
        assert_eq!(writable(maps), [0x3000..0x4000, 0x7000..0x8000]);
    }
}
