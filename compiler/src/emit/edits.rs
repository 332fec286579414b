//! Insertions over the original text, and the map between the two texts.

use crate::source::{LineIndex, Source};

/// An insertion of `text` before the byte at `offset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Offset in the original text, in bytes.
    pub offset: usize,
    /// What is inserted.
    pub text: String,
}

/// The instrumented text with the edits that made it.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The text.
    pub text: String,
    /// The insertions, sorted by offset.
    pub edits: Vec<Edit>,
    /// Where the inserted bytes lie in `text`: start, end, and how many bytes were inserted before the start.
    inserted: Vec<(usize, usize, usize)>,
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
            inserted.push((text.len(), text.len() + edit.text.len(), shift));
            text.push_str(&edit.text);
            shift += edit.text.len();
        }
        text.push_str(&source.text[done..]);
        Self { text, edits, inserted }
    }

    /// The original offset of an offset in the instrumented text; a place inside an insertion is mapped to where the
    /// insertion stands.
    pub fn original_offset(&self, offset: usize) -> usize {
        let next = self.inserted.partition_point(|&(start, _, _)| start <= offset);
        match next.checked_sub(1).map(|at| self.inserted[at]) {
            None => offset,
            Some((start, end, shift)) if offset < end => start - shift,
            Some((start, end, shift)) => offset - shift - (end - start),
        }
    }

    /// Maps (line, column) pairs of the instrumented text, as Python's `ast` counts them, to the original text.
    pub fn map_positions(&self, source: &Source, positions: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let lines = LineIndex::new(&self.text);
        positions
            .iter()
            .map(|&(line, col)| source.lines.line_col(self.original_offset(lines.offset(line, col))))
            .collect()
    }
}

/// Takes the insertions out again.
pub fn undo(emitted: &Emitted) -> String {
    let mut text = String::with_capacity(emitted.text.len());
    let mut done = 0;
    for &(start, end, _) in &emitted.inserted {
        text.push_str(&emitted.text[done..start]);
        done = end;
    }
    text.push_str(&emitted.text[done..]);
    text
}
