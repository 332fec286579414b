//! Lines and blanks: indentation, logical lines, comments, continuation.

use super::token::{error, too_deep};
use super::{Block, Lexer};
use crate::diagnostics::Diagnostic;
use crate::source::Range;
use crate::syntax::downlevel;
use rustpython_parser::Tok;

/// Deepest nesting of indented blocks: CPython's own limit.
const MAX_BLOCKS: usize = 100;

impl Lexer<'_> {
    /// The whole text.
    pub(super) fn file(&mut self) -> Result<(), Diagnostic> {
        while self.indentation()? {
            self.line = self.done.tokens.len();
            self.logical_line()?;
        }
        while self.blocks.len() > 1 {
            self.blocks.pop();
            self.push(Tok::Dedent, self.at);
        }
        Ok(())
    }

    /// Passes blank lines, then measures the indentation of a line and opens or closes blocks; false at the end.
    fn indentation(&mut self) -> Result<bool, Diagnostic> {
        loop {
            let (mut column, mut narrow) = (0, 0);
            // Of an indentation split by a backslash, what stands before the first one counts.
            let mut before = None;
            loop {
                match self.peek(0) {
                    b' ' => (column, narrow) = (column + 1, narrow + 1),
                    b'\t' => (column, narrow) = ((column / 8 + 1) * 8, narrow + 1),
                    b'\x0c' => (column, narrow) = (0, 0),
                    b'\\' => {
                        before = before.or((column > 0).then_some((column, column)));
                        self.continuation()?;
                        continue;
                    }
                    _ => break,
                }
                self.at += 1;
            }
            if self.peek(0) == b'#' {
                self.comment();
            }
            if self.is_at_end() {
                return Ok(false);
            }
            if self.newline() {
                continue;
            }
            let (column, narrow) = before.unwrap_or((column, narrow));
            self.blocks(column, narrow)?;
            return Ok(true);
        }
    }

    fn blocks(&mut self, column: usize, narrow: usize) -> Result<(), Diagnostic> {
        let here = Range::new(self.at, self.at + 1);
        let is_match = std::mem::take(&mut self.opens_match);
        let Some(mut inner) = self.blocks.last() else { return Ok(()) };
        if column > inner.column {
            if narrow <= inner.narrow {
                return Err(inconsistent(here));
            }
            if self.blocks.len() >= MAX_BLOCKS {
                return Err(too_deep(format!("blocks nest deeper than {MAX_BLOCKS} levels"), self.at));
            }
            self.blocks.push(Block { column, narrow, is_match });
            self.push(Tok::Indent, self.at);
            return Ok(());
        }
        while column < inner.column {
            self.blocks.pop();
            self.push(Tok::Dedent, self.at);
            let Some(outer) = self.blocks.last() else { return Ok(()) };
            inner = outer;
        }
        if column != inner.column {
            return Err(error("unindent does not match any outer indentation level", here));
        }
        if narrow != inner.narrow {
            return Err(inconsistent(here));
        }
        Ok(())
    }

    /// The tokens up to the end of a logical line.
    fn logical_line(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.blanks()?;
            if self.is_at_end() || matches!(self.peek(0), b'\n' | b'\r') {
                break;
            }
            self.token()?;
        }
        if let Some(bracket) = self.brackets.last() {
            let shown = char::from(bracket.byte);
            return Err(error(format!("`{shown}` was never closed"), Range::new(bracket.at, bracket.at + 1)));
        }
        let start = self.at;
        self.newline();
        let is_match = self.blocks.last().is_some_and(|block| block.is_match);
        self.opens_match = downlevel::soft_keywords(&mut self.done.tokens[self.line..], is_match);
        self.push(Tok::Newline, start);
        self.done.facts.line_ends(self.at);
        Ok(())
    }

    /// Passes blanks, comments and continuations; inside brackets line ends too.
    pub(super) fn blanks(&mut self) -> Result<(), Diagnostic> {
        loop {
            match self.peek(0) {
                b' ' | b'\t' | b'\x0c' => self.at += 1,
                b'#' => self.comment(),
                b'\\' => self.continuation()?,
                b'\n' | b'\r' if !self.brackets.is_empty() => {
                    self.newline();
                }
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) {
        while !self.is_at_end() && !matches!(self.peek(0), b'\n' | b'\r') {
            self.at += 1;
        }
    }

    /// Passes one line end, if there is one here.
    pub(super) fn newline(&mut self) -> bool {
        match (self.peek(0), self.peek(1)) {
            (b'\r', b'\n') => self.at += 2,
            (b'\n' | b'\r', _) => self.at += 1,
            _ => return false,
        }
        true
    }

    fn continuation(&mut self) -> Result<(), Diagnostic> {
        let here = Range::new(self.at, self.at + 1);
        self.at += 1;
        if !self.newline() {
            return Err(error("a backslash continues a line only at its very end", here));
        }
        if self.is_at_end() {
            return Err(error("the file ends after a backslash that continues the line", here));
        }
        Ok(())
    }
}

fn inconsistent(range: Range) -> Diagnostic {
    error("inconsistent use of tabs and blanks in indentation", range)
}
