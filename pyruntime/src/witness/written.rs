//! How digests are written: sixteen digits for all that is small, and twelve for each large memory.

const SMALL: usize = 16;
pub(super) const LARGE: usize = 12;
/// Stands for memory that was not read.
pub(super) const UNREAD: u8 = b'-';
/// Stands before the digest of a number or a text: such a name holds another one only where it was bound to it.
pub(super) const ATOM: char = '!';
/// Stands before the number of a file that is open.
pub(super) const OPEN: char = '>';

/// Whether two digests of one name say that it holds the same. What was not read in one of them may be anything.
pub(super) fn is_same(one: &str, two: &str) -> bool {
    let (a, b) = (one.strip_prefix(OPEN), two.strip_prefix(OPEN));
    let may_be = |a: &[u8], b: &[u8]| a == b || a.first() == Some(&UNREAD) || b.first() == Some(&UNREAD);
    a.is_some() && b.is_some()
        || a.unwrap_or(one) == b.unwrap_or(two)
        || one.len() == two.len() && parts(one).zip(parts(two)).all(|(a, b)| may_be(a, b))
}

/// What is small, then what is large, piece by piece.
fn parts(digest: &str) -> impl Iterator<Item = &[u8]> {
    let (small, large) = digest.as_bytes().split_at(SMALL.min(digest.len()));
    std::iter::once(small).chain(large.chunks(LARGE))
}
