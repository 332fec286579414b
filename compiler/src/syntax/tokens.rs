//! What the emitter must know of the token stream: strings over several lines, and where logical lines end.

use crate::source::Range;

/// The token facts of a file.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// String literals, those with fields as a whole, in order.
    strings: Vec<Range>,
    /// Fields of strings whose own text the program sees: `f"{x=}"`, those of t-strings. Inner ones come before outer ones.
    spelled: Vec<Range>,
    /// Ends of logical lines (offset just past the line end), in order.
    line_ends: Vec<usize>,
}

impl Tokens {
    pub(super) fn string(&mut self, range: Range) {
        self.strings.push(range);
    }

    pub(super) fn line_ends(&mut self, at: usize) {
        self.line_ends.push(at);
    }

    pub(super) fn spelled(&mut self, range: Range) {
        self.spelled.push(range);
    }

    /// Whether the text around `offset` is part of what the program computes.
    pub fn is_spelled(&self, offset: usize) -> bool {
        self.spelled.iter().any(|field| field.start <= offset && offset < field.end)
    }

    /// Whether `offset` lies strictly inside a string token, so that bytes put there would change a value.
    pub fn inside_string(&self, offset: usize) -> bool {
        let next = self.strings.partition_point(|string| string.start < offset);
        next > 0 && offset < self.strings[next - 1].end
    }

    /// The end of the logical line that holds `offset`: just past its newline, or `len` when the file ends first.
    pub fn logical_line_end(&self, offset: usize, len: usize) -> usize {
        let at = self.line_ends.partition_point(|&end| end <= offset);
        self.line_ends.get(at).copied().unwrap_or(len).min(len)
    }

    /// Where the logical line begins that holds `offset`; comments and empty lines may come before its first statement.
    pub fn logical_line_start(&self, offset: usize) -> usize {
        let at = self.line_ends.partition_point(|&end| end <= offset);
        at.checked_sub(1).map_or(0, |before| self.line_ends[before])
    }
}
