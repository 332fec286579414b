//! Staging memory: a ring of extents, shared with the writer process.
use std::collections::VecDeque;
use std::io;
use std::ptr::{self, NonNull};

/// Extents begin at multiples of this, so that copies are aligned.
pub const ALIGNMENT: usize = 64;

/// A range of the arena, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Where it begins; a multiple of [`ALIGNMENT`].
    pub offset: usize,
    /// How long it is; a multiple of [`ALIGNMENT`].
    pub len: usize,
}

/// Which ranges of the arena are taken, oldest first. Pages that were touched before are taken first: the operating system
/// need not find and clear new ones.
#[derive(Debug)]
pub struct Ring {
    capacity: usize,
    head: usize,
    touched: usize,
    taken: VecDeque<Extent>,
}

impl Ring {
    /// An empty ring of so many bytes.
    pub fn new(capacity: usize) -> Ring {
        Ring {
            capacity: capacity / ALIGNMENT * ALIGNMENT,
            head: 0,
            touched: 0,
            taken: VecDeque::new(),
        }
    }

    /// Takes a range of at least `len` bytes in one piece; `None` when there is no room now.
    pub fn alloc(&mut self, len: usize) -> Option<Extent> {
        let len = len.max(1).checked_next_multiple_of(ALIGNMENT)?;
        let offset = match self.taken.front().map(|oldest| oldest.offset) {
            None => (len <= self.capacity).then_some(0),
            Some(tail) if self.head > tail => {
                let at_end = self.capacity - self.head >= len;
                let at_start = tail >= len;
                let fresh = self.head + len > self.touched;
                if at_start && (fresh || !at_end) {
                    Some(0)
                } else {
                    at_end.then_some(self.head)
                }
            }
            Some(tail) => (tail - self.head >= len).then_some(self.head),
        }?;
        self.head = offset + len;
        self.touched = self.touched.max(self.head);
        let extent = Extent { offset, len };
        self.taken.push_back(extent);
        Some(extent)
    }

    /// Gives the oldest range back.
    pub fn free_oldest(&mut self) {
        self.taken.pop_front();
    }

    /// The longest range that can be taken now, in bytes.
    pub fn room(&self) -> usize {
        match self.taken.front().map(|oldest| oldest.offset) {
            None => self.capacity,
            Some(tail) if self.head > tail => tail.max(self.capacity - self.head),
            Some(tail) => tail - self.head,
        }
    }
}

/// Memory that this process and the processes cloned from it share. Pages exist once they are touched.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping is plain memory; who may touch which range when is the contract of `write` and `bytes`
unsafe impl Send for Mapping {}
// SAFETY: as above
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps so many bytes.
    ///
    /// # Errors
    /// When the operating system has no address space for them.
    pub fn new(len: usize) -> io::Result<Mapping> {
        let len = len.max(ALIGNMENT);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address that the kernel chooses touches no existing memory
        let base = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(base.cast())
            .map(|base| Mapping { base, len })
            .ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never true.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies `len` bytes from `source` to `offset`. False when they do not fit.
    ///
    /// # Safety
    /// `source` must be readable for `len` bytes, and nobody else may use the target range meanwhile.
    pub unsafe fn write(&self, offset: usize, source: *const u8, len: usize) -> bool {
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            return false;
        }
        // SAFETY: the range is inside the mapping; the rest is the caller's promise
        unsafe { ptr::copy_nonoverlapping(source, self.base.as_ptr().add(offset), len) };
        true
    }

    /// A range as bytes; `None` outside the mapping.
    ///
    /// # Safety
    /// Nobody may write the range while the slice lives.
    pub unsafe fn bytes(&self, offset: usize, len: usize) -> Option<&[u8]> {
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            return None;
        }
        // SAFETY: the range is inside the mapping; the rest is the caller's promise
        Some(unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(offset), len) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `base` and `len` are what mmap returned, and no borrow of the mapping outlives it
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_low_part_stays_hot() {
        let mut ring = Ring::new(1 << 20);
        for _ in 0..100 {
            assert_eq!(ring.alloc(1000).unwrap().offset, 0);
            ring.free_oldest();
        }
        // two in flight: touched memory below the oldest is taken before fresh memory above the newest
        let first = ring.alloc(1000).unwrap();
        ring.alloc(1000).unwrap();
        ring.free_oldest();
        assert_eq!(ring.alloc(1000), Some(first));
    }

    #[test]
    fn too_much_is_refused() {
        let mut ring = Ring::new(640);
        assert_eq!(ring.alloc(641), None);
        assert_eq!(ring.alloc(usize::MAX), None);
        assert!(ring.alloc(640).is_some() && ring.alloc(1).is_none());
        assert_eq!(ring.room(), 0);
    }

    proptest! {
        #[test]
        fn extents_never_overlap_and_room_is_honest(steps in prop::collection::vec(0usize..700, 1..300)) {
            let mut ring = Ring::new(2048);
            for step in steps {
                if step % 3 == 0 {
                    ring.free_oldest();
                    continue;
                }
                let room = ring.room();
                let got = ring.alloc(step);
                prop_assert_eq!(got.is_some(), step.max(1).next_multiple_of(ALIGNMENT) <= room);
                let mut sorted: Vec<Extent> = ring.taken.iter().copied().collect();
                sorted.sort_by_key(|extent| extent.offset);
                for pair in sorted.windows(2) {
                    prop_assert!(pair[0].offset + pair[0].len <= pair[1].offset);
                }
                prop_assert!(sorted.last().is_none_or(|last| last.offset + last.len <= 2048));
            }
        }
    }
}
