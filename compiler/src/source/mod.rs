//! A file as text: decoding, and offsets to lines and columns.

mod codecs;
mod decode;
mod lines;

pub use decode::decode;
pub use lines::LineIndex;

/// A half-open byte range of the decoded text. Offsets count UTF-8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Range {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Range {
    /// The range from `start` to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Whether `other` lies wholly inside this range.
    pub fn contains(self, other: Range) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// One source file: its name as the user wrote it, and its decoded text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name used in diagnostics and plans.
    pub name: String,
    /// The decoded text, without a byte order mark.
    pub text: String,
    /// Where its lines begin.
    pub lines: LineIndex,
}

impl Source {
    /// A source from text that is already decoded. A leading byte order mark is dropped.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let mut text: String = text.into();
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        let lines = LineIndex::new(&text);
        Self { name: name.into(), text, lines }
    }

    /// Whether nothing but blanks stands before an offset on its line.
    pub fn starts_line(&self, offset: usize) -> bool {
        let line = self.lines.start_of(self.lines.line(offset));
        self.text[line..offset].trim().is_empty()
    }

    /// The text of a range.
    pub fn slice(&self, range: Range) -> &str {
        self.text.get(range.start..range.end).unwrap_or("")
    }
}
