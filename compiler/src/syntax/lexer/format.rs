//! Strings with fields: f-strings (PEP 701) and t-strings (PEP 750).
//!
//! The grammar is given, in the place of the string, a tuple of an empty string and of each field in parentheses:
//! `f"{a!r}{b:{c}}"` becomes `("", (a), (b), (c),)`. So fields are parsed where they stand, at any depth and with any
//! quotes, and lowering takes the tuple apart again.

use super::string::{Prefix, Quotes, unclosed};
use super::token::{Formatted, error, span, too_deep};
use super::{Bracket, Lexer, escape};
use crate::diagnostics::Diagnostic;
use crate::source::Range;
use rustpython_parser::{StringKind, Tok};

/// How deep CPython nests formatted strings in each other.
const MAX_FIELDS: usize = 150;
/// How deep fields nest in the format of another field: `{a:{b:{c:{d}}}}` is too deep.
const MAX_FORMATS: usize = 3;

impl Lexer<'_> {
    /// A string with fields whose prefix begins at `start`; this place is just past its opening quotes.
    pub(super) fn formatted(&mut self, start: usize, prefix: Prefix, quotes: Quotes) -> Result<(), Diagnostic> {
        if self.fields >= MAX_FIELDS {
            return Err(too_deep(format!("formatted strings nest deeper than {MAX_FIELDS} levels"), start));
        }
        let first = self.at;
        let start_of_run = self.open_run(start, prefix)?;
        self.fields += 1;
        self.literal(start, first, prefix, quotes)?;
        self.fields -= 1;
        self.at += quotes.count;
        if self.fields == 0 {
            self.done.facts.string(Range::new(start, self.at));
        }
        self.close_run(start_of_run, prefix.template);
        Ok(())
    }

    /// Opens the tuple, or opens it again after an adjacent string; where the run of strings begins.
    fn open_run(&mut self, start: usize, prefix: Prefix) -> Result<usize, Diagnostic> {
        if let Some(run) = self.adjacent_run() {
            if run.is_template != prefix.template {
                return Err(mixed(Range::new(start, self.at)));
            }
            self.done.formatted.pop();
            self.done.tokens.pop();
            return Ok(run.range.start);
        }
        let tokens = &self.done.tokens;
        let plain = tokens.iter().rev().take_while(|(token, _)| matches!(token, Tok::String { .. })).count();
        let at = tokens.len() - plain;
        let is_bytes = |token: &Tok| matches!(token, Tok::String { kind: StringKind::RawBytes, .. });
        if plain > 0 && (prefix.template || is_bytes(&tokens[at].0)) {
            return Err(mixed(Range::new(start, self.at)));
        }
        let begins = tokens.get(at).map_or(start, |(_, range)| usize::from(range.start()));
        self.done.tokens.insert(at, (Tok::Lpar, span(begins, begins)));
        if plain == 0 {
            let (value, kind) = (String::new(), StringKind::RawString);
            self.done.tokens.push((Tok::String { value, kind, triple_quoted: false }, span(start, start)));
        }
        self.push_empty(Tok::Comma);
        Ok(begins)
    }

    fn close_run(&mut self, start: usize, is_template: bool) {
        self.push_empty(Tok::Rpar);
        self.done.formatted.push(Formatted { range: Range::new(start, self.at), is_template });
    }

    /// The run of strings whose tuple was closed just before this string.
    fn adjacent_run(&self) -> Option<Formatted> {
        let run = *self.done.formatted.last()?;
        let &(ref token, range) = self.done.tokens.last()?;
        // Only the tuple's own closing parenthesis is empty.
        (*token == Tok::Rpar && range.is_empty() && usize::from(range.end()) == run.range.end).then_some(run)
    }

    pub(super) fn extends_formatted(&self) -> bool {
        self.adjacent_run().is_some()
    }

    /// A plain string after one with fields belongs to its run.
    pub(super) fn join_plain(&mut self, range: Range, prefix: Prefix) -> Result<(), Diagnostic> {
        if let Some(run) = self.adjacent_run() {
            if run.is_template || prefix.bytes {
                return Err(mixed(range));
            }
            self.done.formatted.pop();
            self.done.tokens.pop();
            self.close_run(run.range.start, false);
        }
        Ok(())
    }

    fn push_empty(&mut self, token: Tok) {
        self.push(token, self.at);
    }

    /// The text between fields, up to the closing quotes.
    fn literal(&mut self, start: usize, first: usize, prefix: Prefix, quotes: Quotes) -> Result<(), Diagnostic> {
        let mut piece = self.at;
        loop {
            if self.is_at_end() || (quotes.count == 1 && matches!(self.peek(0), b'\n' | b'\r')) {
                return Err(unclosed(start, first, quotes));
            }
            if self.closes(quotes) {
                return self.check_piece(piece, prefix);
            }
            match (self.peek(0), self.peek(1)) {
                (b'\\', _) => self.backslash(prefix),
                (b'{', b'{') | (b'}', b'}') => self.at += 2,
                (b'{', _) => {
                    self.check_piece(piece, prefix)?;
                    self.field(quotes, prefix, 1)?;
                    piece = self.at;
                }
                (b'}', _) => {
                    let range = Range::new(self.at, self.at + 1);
                    return Err(error("a single `}` in a formatted string; write `}}`", range));
                }
                _ => self.at += 1,
            }
        }
    }

    /// Passes a backslash and what it escapes, but never a brace: `\{` begins a field.
    fn backslash(&mut self, prefix: Prefix) {
        self.at += 1;
        if !prefix.raw && self.peek(0) == b'N' && self.peek(1) == b'{' {
            let name = self.bytes[self.at..].iter().position(|&byte| matches!(byte, b'}' | b'\n' | b'"' | b'\''));
            self.at += name.map_or(2, |width| width + usize::from(self.bytes[self.at + width] == b'}'));
        } else if !self.newline() && !matches!(self.peek(0), b'{' | b'}') {
            self.at = (self.at + 1).min(self.bytes.len());
        }
    }

    fn check_piece(&self, first: usize, prefix: Prefix) -> Result<(), Diagnostic> {
        if prefix.raw {
            return Ok(());
        }
        let piece = self.text.get(first..self.at).unwrap_or("");
        escape::unescape(piece)
            .map(|_| ())
            .map_err(|(message, range)| error(message, Range::new(first + range.start, first + range.end)))
    }

    /// A field, from its opening brace to its closing one. `depth` counts the formats around it.
    fn field(&mut self, quotes: Quotes, prefix: Prefix, depth: usize) -> Result<(), Diagnostic> {
        let opened = self.at;
        if depth > MAX_FORMATS {
            let range = Range::new(opened, opened + 1);
            return Err(error("fields of a formatted string nest too deeply", range));
        }
        self.brackets.push(Bracket { byte: b'{', at: opened, type_parameters: None });
        self.push_empty(Tok::Lpar);
        self.at += 1;
        self.expression(opened)?;
        self.push_empty(Tok::Rpar);
        self.push_empty(Tok::Comma);
        self.conversion()?;
        if self.peek(0) == b':' {
            self.at += 1;
            self.format(quotes, prefix, depth)?;
        }
        self.blanks()?;
        if self.peek(0) != b'}' || self.is_at_end() {
            return Err(self.field_error(opened, "`}` was expected in this field"));
        }
        self.at += 1;
        if prefix.template {
            self.done.facts.spelled(Range::new(opened, self.at));
        }
        self.brackets.pop();
        Ok(())
    }

    /// The tokens of a field's expression, and the `=` that asks for its text.
    fn expression(&mut self, opened: usize) -> Result<(), Diagnostic> {
        let (depth, first) = (self.brackets.len(), self.done.tokens.len());
        loop {
            self.blanks()?;
            if self.is_at_end() {
                return Err(error("`{` was never closed", Range::new(opened, opened + 1)));
            }
            if self.brackets.len() == depth {
                match (self.peek(0), self.peek(1)) {
                    (b'}' | b':', _) => break,
                    (b'!', next) if next != b'=' => break,
                    (b'=', next) if next != b'=' => {
                        self.at += 1;
                        self.blanks()?;
                        if !matches!(self.peek(0), b'}' | b':' | b'!') {
                            return Err(self.field_error(opened, "`!`, `:` or `}` was expected after `=`"));
                        }
                        self.done.facts.spelled(Range::new(opened, self.at));
                        break;
                    }
                    _ => {}
                }
            }
            self.token()?;
        }
        if self.done.tokens.len() == first {
            return Err(self.field_error(opened, "a field of a formatted string is empty; write `{{` for a brace"));
        }
        Ok(())
    }

    /// `!r`, `!s` or `!a`.
    fn conversion(&mut self) -> Result<(), Diagnostic> {
        if self.peek(0) != b'!' {
            return Ok(());
        }
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        if !matches!(self.peek(1), b'r' | b's' | b'a') || word(self.peek(2)) {
            let range = Range::new(self.at, self.at + 1);
            return Err(error("a conversion in a formatted string is `!s`, `!r` or `!a`", range));
        }
        self.at += 2;
        self.blanks()
    }

    /// What follows the colon of a field: text, and fields of its own.
    fn format(&mut self, quotes: Quotes, prefix: Prefix, depth: usize) -> Result<(), Diagnostic> {
        let mut piece = self.at;
        loop {
            match self.peek(0) {
                _ if self.is_at_end() || self.closes(quotes) => break,
                b'}' => break,
                b'\n' | b'\r' if quotes.count == 1 => break,
                b'\\' => self.backslash(prefix),
                b'{' => {
                    self.check_piece(piece, prefix)?;
                    self.field(quotes, prefix, depth + 1)?;
                    piece = self.at;
                }
                _ => self.at += 1,
            }
        }
        self.check_piece(piece, prefix)
    }

    fn field_error(&self, opened: usize, message: &str) -> Diagnostic {
        let at = self.at.min(self.text.len().saturating_sub(1)).max(opened);
        error(message, Range::new(at, at + 1))
    }
}

fn mixed(range: Range) -> Diagnostic {
    error("strings of different kinds (bytes, text, t-strings) cannot stand side by side", range)
}
