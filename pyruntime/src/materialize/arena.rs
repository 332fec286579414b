//! Staging memory: extents of a mapping that is shared with the writer process.
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;

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

/// Where a range may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// In memory that was taken before.
    Touched,
    /// In the part for all that is on its way.
    Usual,
    /// Anywhere.
    All,
}

/// Which ranges of the arena are taken. Ranges are given back in the order in which they were
/// taken, and the lowest gap that is long enough is taken first: its pages were touched before, so
/// the operating system need not find and clear new ones.
#[derive(Debug)]
pub struct Space {
    capacity: usize,
    /// The end of the part for all that is on its way. The rest is for one checkpoint that would not fit there.
    usual: usize,
    /// The end of the highest range that ever was taken.
    touched: usize,
    /// In the order of time.
    taken: VecDeque<Extent>,
    /// In the order of place: offset to end.
    places: BTreeMap<usize, usize>,
}

impl Space {
    /// So many bytes, all free.
    pub fn new(capacity: usize, usual: usize) -> Space {
        let capacity = capacity / ALIGNMENT * ALIGNMENT;
        let usual = usual.min(capacity) / ALIGNMENT * ALIGNMENT;
        Space { capacity, usual, touched: 0, taken: VecDeque::new(), places: BTreeMap::new() }
    }

    /// Whether nothing is taken.
    pub fn is_free(&self) -> bool {
        self.places.is_empty()
    }

    /// How many ranges are taken.
    pub fn taken(&self) -> usize {
        self.places.len()
    }

    /// Takes a range of at least `len` bytes in one piece; `None` when there is no room now.
    pub fn alloc(&mut self, len: usize, reach: Reach) -> Option<Extent> {
        let len = len.max(1).checked_next_multiple_of(ALIGNMENT)?;
        let limit = match reach {
            Reach::Touched => self.touched,
            Reach::Usual => self.usual,
            Reach::All => self.capacity,
        };
        let (offset, _) = self.gaps().find(|(start, room)| *room >= len && start + len <= limit)?;
        self.touched = self.touched.max(offset + len);
        self.places.insert(offset, offset + len);
        let extent = Extent { offset, len };
        self.taken.push_back(extent);
        Some(extent)
    }

    /// Gives the oldest range back. Returns the range that is not to be kept in memory: what lies past the usual part.
    pub fn free_oldest(&mut self) -> Option<Extent> {
        let oldest = self.taken.pop_front()?;
        self.places.remove(&oldest.offset);
        let offset = oldest.offset.max(self.usual);
        let past = Extent { offset, len: (oldest.offset + oldest.len).saturating_sub(offset) };
        let is_last = self.places.values().all(|end| *end <= past.offset);
        if past.len == 0 || !is_last {
            return None;
        }
        self.touched = self.touched.min(past.offset);
        Some(past)
    }

    /// Gives the newest range back, which nobody was told of.
    pub fn untake(&mut self) {
        if let Some(newest) = self.taken.pop_back() {
            self.places.remove(&newest.offset);
        }
    }

    /// Leaves the oldest range taken for ever: somebody may still write to it.
    pub fn forget_oldest(&mut self) {
        self.taken.pop_front();
    }

    /// The longest range of the usual part that can be taken now, in bytes.
    pub fn room(&self) -> usize {
        self.gaps().map(|(start, room)| room.min(self.usual.saturating_sub(start))).max().unwrap_or(0)
    }

    /// The length of the usual part, in bytes.
    pub fn usual(&self) -> usize {
        self.usual
    }

    /// The longest range that one checkpoint can take when nothing else is on its way, in bytes.
    pub fn whole(&self) -> usize {
        self.capacity
    }

    /// Offset and length of every gap, lowest first; some have no length.
    fn gaps(&self) -> impl Iterator<Item = (usize, usize)> {
        let starts = [0].into_iter().chain(self.places.values().copied());
        let ends = self.places.keys().copied().chain([self.capacity]);
        starts.zip(ends).map(|(start, end)| (start, end - start))
    }
}

/// Memory that this process and the processes cloned from it share. Pages exist once they are
/// touched.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping is plain memory; who may touch which range when is the contract of `write`
// and `bytes`
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
        // SAFETY: advice on the mapping that was just made. Without huge pages the first use only
        // takes longer.
        unsafe { libc::madvise(base, len, libc::MADV_HUGEPAGE) };
        NonNull::new(base.cast()).map(|base| Mapping { base, len }).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never true.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Has the operating system find memory for the first `len` bytes, whose content stays as it
    /// is. Older kernels find it at the first use instead.
    pub fn populate(&self, len: usize) {
        // SAFETY: the range is inside the mapping, and populating changes no byte
        unsafe { libc::madvise(self.base.as_ptr().cast(), len.min(self.len), libc::MADV_POPULATE_WRITE) };
    }

    /// Gives the memory of a range back to the operating system; it is all zeros when it is used again. Without that the memory
    /// stays taken.
    pub fn release(&self, extent: Extent) {
        let page = 1 << 12;
        let start = extent.offset.next_multiple_of(page);
        let end = (extent.offset + extent.len).min(self.len) / page * page;
        if start < end {
            // SAFETY: the range is inside the mapping, and whoever frees an extent says that nobody uses it any more
            unsafe { libc::madvise(self.base.as_ptr().add(start).cast(), end - start, libc::MADV_REMOVE) };
        }
    }

    /// The eight bytes at `offset` as a word that several processes may use at once; `None` outside
    /// the mapping or between words.
    pub fn word(&self, offset: usize) -> Option<&AtomicU64> {
        if !offset.is_multiple_of(size_of::<AtomicU64>()) || offset.checked_add(8).is_none_or(|end| end > self.len) {
            return None;
        }
        // SAFETY: the word is inside the mapping, which begins at a page
        Some(unsafe { &*self.base.as_ptr().add(offset).cast::<AtomicU64>() })
    }

    /// Copies `len` bytes from `source` to `offset`. False when they do not fit.
    ///
    /// # Safety
    /// `source` must be readable for `len` bytes, and nobody else may use the target range
    /// meanwhile.
    pub unsafe fn write(&self, offset: usize, source: *const u8, len: usize) -> bool {
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            return false;
        }
        // SAFETY: the range is inside the mapping; the rest is the caller's promise
        unsafe { ptr::copy_nonoverlapping(source, self.base.as_ptr().add(offset), len) };
        true
    }

    /// Where a range is, for whoever fills it; `None` outside the mapping.
    pub fn address(&self, offset: usize, len: usize) -> Option<usize> {
        let is_inside = offset.checked_add(len).is_some_and(|end| end <= self.len);
        is_inside.then(|| self.base.as_ptr() as usize + offset)
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
        let mut space = Space::new(1 << 20, 1 << 20);
        for _ in 0..100 {
            assert_eq!(space.alloc(1000, Reach::All).unwrap().offset, 0);
            space.free_oldest();
        }
        // two in flight: touched memory below the oldest is taken before fresh memory above the
        // newest
        let first = space.alloc(1000, Reach::All).unwrap();
        space.alloc(1000, Reach::All).unwrap();
        space.free_oldest();
        assert_eq!(space.alloc(1000, Reach::Touched), Some(first));
        assert_eq!(space.alloc(1000, Reach::Touched), None);
    }

    #[test]
    fn too_much_is_refused() {
        let mut space = Space::new(640, 640);
        assert_eq!(space.alloc(641, Reach::All), None);
        assert_eq!(space.alloc(usize::MAX, Reach::All), None);
        assert!(space.alloc(640, Reach::All).is_some() && space.alloc(1, Reach::All).is_none());
        assert_eq!(space.room(), 0);
    }

    #[test]
    fn what_is_too_large_for_the_usual_part_is_given_back() {
        let mut space = Space::new(1 << 20, 4096);
        assert_eq!((space.alloc(8192, Reach::Usual), space.room(), space.whole()), (None, 4096, 1 << 20));
        let large = space.alloc(8192, Reach::All).unwrap();
        assert_eq!((large.offset, space.is_free()), (0, false));
        assert_eq!(space.free_oldest(), Some(Extent { offset: 4096, len: 4096 }));
        assert_eq!(space.alloc(8192, Reach::Touched), None, "the rest has no memory any more");
        assert!(space.alloc(4096, Reach::Touched).is_some() && space.free_oldest().is_none());
    }

    #[test]
    fn released_memory_is_there_again() {
        let mapping = Mapping::new(1 << 16).unwrap();
        let bytes = [7u8; 1 << 16];
        // SAFETY: the mapping is ours
        assert!(unsafe { mapping.write(0, bytes.as_ptr(), bytes.len()) });
        mapping.release(Extent { offset: 100, len: 3 << 12 });
        // SAFETY: nobody writes
        let found = unsafe { mapping.bytes(0, 1 << 16) }.unwrap();
        assert!(found[..1 << 12].iter().all(|byte| *byte == 7) && found[3 << 12..].iter().all(|byte| *byte == 7));
        assert!(found[1 << 12..3 << 12].iter().all(|byte| *byte == 0));
    }

    proptest! {
        #[test]
        fn extents_never_overlap_and_room_is_honest(steps in prop::collection::vec(0usize..700, 1..300)) {
            let mut space = Space::new(2048, 2048);
            for step in steps {
                if step % 3 == 0 {
                    space.free_oldest();
                    continue;
                }
                let room = space.room();
                let got = space.alloc(step, Reach::All);
                prop_assert_eq!(got.is_some(), step.max(1).next_multiple_of(ALIGNMENT) <= room);
                let mut sorted: Vec<Extent> = space.taken.iter().copied().collect();
                sorted.sort_by_key(|extent| extent.offset);
                for pair in sorted.windows(2) {
                    prop_assert!(pair[0].offset + pair[0].len <= pair[1].offset);
                }
                prop_assert!(sorted.last().is_none_or(|last| last.offset + last.len <= 2048));
            }
        }
    }
}
