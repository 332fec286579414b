//! Insertions over the original text, and the map between the two texts.

use crate::source::{LineIndex, Source};

/// An insertion of `text` before the byte at `offset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Offset in the original text, in bytes.
    pub offset: usize,
    /// What is inserted.
    pub text: String,
    /// Where positions inside the insertion are in the original text: what closes a block belongs to its last byte.
    pub anchor: usize,
}

/// The instrumented text with the edits that made it.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The text.
    pub text: String,
    /// The insertions, sorted by offset.
    pub edits: Vec<Edit>,
    /// Where the inserted bytes lie in `text`.
    inserted: Vec<Inserted>,
}

#[derive(Clone, Copy, Debug)]
struct Inserted {
    start: usize,
    end: usize,
    /// How many bytes were inserted before.
    shift: usize,
    anchor: usize,
}

impl Emitted {
    /// Applies sorted insertions.
    pub(super) fn new(source: &Source, edits: Vec<Edit>) -> Self {
        let extra: usize = edits.iter().map(|edit| edit.text.len()).sum();
        let mut text = String::with_capacity(source.text.len() + extra);
        let mut inserted = Vec::with_capacity(edits.len());
        let (mut done, mut shift) = (0, 0);
        for edit in &edits {
            text.push_str(&source.text[done..edit.offset]);
            done = edit.offset;
            let (start, end) = (text.len(), text.len() + edit.text.len());
            inserted.push(Inserted { start, end, shift, anchor: edit.anchor });
            text.push_str(&edit.text);
            shift += edit.text.len();
        }
        text.push_str(&source.text[done..]);
        Self { text, edits, inserted }
    }

    /// The original offset of an offset in the instrumented text; a place inside an insertion is mapped to its anchor.
    pub fn original_offset(&self, offset: usize) -> usize {
        let next = self.inserted.partition_point(|found| found.start <= offset);
        match next.checked_sub(1).map(|at| self.inserted[at]) {
            None => offset,
            Some(found) if offset < found.end => found.anchor,
            Some(found) => offset - found.shift - (found.end - found.start),
        }
    }

    /// The original offset of the end of a range in the instrumented text.
    pub(super) fn original_end(&self, end: usize) -> usize {
        let Some(last) = end.checked_sub(1) else { return 0 };
        let next = self.inserted.partition_point(|found| found.start <= last);
        match next.checked_sub(1).map(|at| self.inserted[at]) {
            Some(found) if last < found.end => found.anchor,
            _ => self.original_offset(last) + 1,
        }
    }

    /// Maps (line, column) pairs of the instrumented text, as Python's `ast` counts them, to the original text.
    pub fn positions<'a>(&'a self, source: &'a Source) -> impl Fn((usize, usize)) -> (usize, usize) + 'a {
        let lines = LineIndex::new(&self.text);
        move |(line, col)| source.lines.line_col(self.original_offset(lines.offset(line, col)))
    }
}

/// Takes the insertions out again.
pub fn undo(emitted: &Emitted) -> String {
    let mut text = String::with_capacity(emitted.text.len());
    let mut done = 0;
    for found in &emitted.inserted {
        text.push_str(&emitted.text[done..found.start]);
        done = found.end;
    }
    text.push_str(&emitted.text[done..]);
    text
}
