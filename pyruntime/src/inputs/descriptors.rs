//! What the kernel says of a descriptor.

/// None where it is closed.
pub(super) fn stat_of(descriptor: i32) -> Option<libc::stat> {
    // SAFETY: a plain struct of C, which the kernel fills; it is only read where it did
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        (libc::fstat(descriptor, &raw mut found) == 0).then_some(found)
    }
}

/// Whether it is of this kind (`S_IFIFO`, …).
pub(super) fn is_a(found: &libc::stat, kind: libc::mode_t) -> bool {
    found.st_mode & libc::S_IFMT == kind
}
