//! String literals, and which of them have fields.

use super::token::error;
use super::{Lexer, escape};
use crate::diagnostics::Diagnostic;
use crate::source::Range;
use rustpython_parser::{StringKind, Tok};

/// The letters before the first quote.
#[derive(Clone, Copy, Default)]
pub(super) struct Prefix {
    pub raw: bool,
    pub bytes: bool,
    pub format: bool,
    pub template: bool,
    unicode: bool,
}

/// The quotes of a string.
#[derive(Clone, Copy)]
pub(super) struct Quotes {
    pub byte: u8,
    /// 1 or 3.
    pub count: usize,
}

impl Lexer<'_> {
    /// A string whose prefix begins at `start`; this place is its first quote.
    pub(super) fn string(&mut self, start: usize) -> Result<(), Diagnostic> {
        let Some(prefix) = prefix(&self.bytes[start..self.at]) else {
            // A name before a string: the parser will say so.
            let name = self.text[start..self.at].to_owned();
            self.push(Tok::Name { name }, start);
            return self.string(self.at);
        };
        let byte = self.peek(0);
        let count = if self.peek(1) == byte && self.peek(2) == byte { 3 } else { 1 };
        self.at += count;
        let quotes = Quotes { byte, count };
        if prefix.format || prefix.template {
            self.formatted(start, prefix, quotes)
        } else {
            self.plain(start, prefix, quotes)
        }
    }

    fn plain(&mut self, start: usize, prefix: Prefix, quotes: Quotes) -> Result<(), Diagnostic> {
        let first = self.at;
        loop {
            if self.is_at_end() {
                return Err(unclosed(start, first, quotes));
            }
            match self.peek(0) {
                b'\\' => {
                    self.at += 1;
                    // `\` before CRLF takes both.
                    if !self.newline() {
                        self.at = (self.at + 1).min(self.bytes.len());
                    }
                }
                b'\n' | b'\r' if quotes.count == 1 => return Err(unclosed(start, first, quotes)),
                _ if self.closes(quotes) => break,
                _ => self.at += 1,
            }
        }
        let body = &self.text[first..self.at];
        self.at += quotes.count;
        let value = if prefix.bytes {
            let checked = if prefix.raw && body.is_ascii() { Ok(()) } else { escape::check_bytes(body) };
            checked.map(|()| String::new())
        } else if prefix.raw {
            Ok(body.to_owned())
        } else {
            escape::unescape(body).map(std::borrow::Cow::into_owned)
        };
        let value =
            value.map_err(|(message, range)| error(message, Range::new(first + range.start, first + range.end)))?;
        self.put_string(start, value, prefix, quotes)
    }

    /// Whether this place is the closing quotes.
    pub(super) fn closes(&self, quotes: Quotes) -> bool {
        self.peek(0) == quotes.byte
            && (quotes.count == 1 || (self.peek(1) == quotes.byte && self.peek(2) == quotes.byte))
    }

    fn put_string(&mut self, start: usize, value: String, prefix: Prefix, quotes: Quotes) -> Result<(), Diagnostic> {
        let range = Range::new(start, self.at);
        if self.fields == 0 {
            self.done.facts.string(range);
        }
        if self.extends_formatted() {
            return self.join_plain(range, prefix);
        }
        // The value is final: raw tells the parser to leave it as it is.
        let kind = if prefix.bytes { StringKind::RawBytes } else { StringKind::RawString };
        self.push(Tok::String { value, kind, triple_quoted: quotes.count == 3 }, start);
        Ok(())
    }
}

pub(super) fn unclosed(start: usize, first: usize, quotes: Quotes) -> Diagnostic {
    let message = if quotes.count == 3 {
        "a triple-quoted string is not closed before the end of the file"
    } else {
        "a string is not closed on its line"
    };
    error(message, Range::new(start, first))
}

fn prefix(letters: &[u8]) -> Option<Prefix> {
    let mut prefix = Prefix::default();
    for letter in letters {
        let flag = match letter.to_ascii_lowercase() {
            b'r' => &mut prefix.raw,
            b'b' => &mut prefix.bytes,
            b'f' => &mut prefix.format,
            b't' => &mut prefix.template,
            b'u' => &mut prefix.unicode,
            _ => return None,
        };
        if std::mem::replace(flag, true) {
            return None;
        }
    }
    let kinds = [prefix.bytes, prefix.format, prefix.template].into_iter().filter(|&set| set).count();
    (kinds <= 1 && !(prefix.unicode && letters.len() > 1)).then_some(prefix)
}
