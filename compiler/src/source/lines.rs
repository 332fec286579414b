//! Offset ⇄ line and column, with Python's idea of a line end: LF, CRLF or a lone CR.

/// Where each line begins.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
    len: usize,
}

impl LineIndex {
    /// Indexes `text`.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            let ends_line = byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
            if ends_line {
                starts.push(at + 1);
            }
        }
        Self { starts, len: bytes.len() }
    }

    /// The 1-based line that holds `offset`.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    /// 1-based line and 0-based column in UTF-8 bytes, as in Python's `ast`.
    pub fn line_col(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        (line, offset - self.starts[line - 1])
    }

    /// Where the 1-based `line` begins; the end of the text for a line past the last.
    pub fn start_of(&self, line: usize) -> usize {
        self.starts.get(line.wrapping_sub(1)).copied().unwrap_or(self.len)
    }

    /// The offset of a 1-based line and a 0-based byte column.
    pub fn offset(&self, line: usize, col: usize) -> usize {
        (self.start_of(line) + col).min(self.len)
    }

    /// How many lines there are.
    pub fn count(&self) -> usize {
        self.starts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::LineIndex;

    #[test]
    fn every_line_end() {
        let index = LineIndex::new("a\r\nb\rc\nd");
        assert_eq!(index.count(), 4);
        assert_eq!((index.start_of(2), index.start_of(3), index.start_of(4)), (3, 5, 7));
        assert_eq!(index.line_col(5), (3, 0));
        assert_eq!(index.offset(4, 1), 8);
    }
}
