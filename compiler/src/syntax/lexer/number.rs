//! Numbers. Only their form is checked: no analysis asks for their value.

use super::Lexer;
use super::token::error;
use crate::diagnostics::Diagnostic;
use crate::source::Range;
use rustpython_parser::Tok;
use rustpython_parser::ast::bigint::BigInt;

/// CPython refuses to convert longer decimal literals.
const MAX_DIGITS: usize = 4300;

type IsDigit = fn(u8) -> bool;

impl Lexer<'_> {
    pub(super) fn number(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        let radix: Option<(IsDigit, &str)> = match (self.peek(0), self.peek(1)) {
            (b'0', b'x' | b'X') => Some((|byte| byte.is_ascii_hexdigit(), "hexadecimal")),
            (b'0', b'o' | b'O') => Some((|byte| matches!(byte, b'0'..=b'7'), "octal")),
            (b'0', b'b' | b'B') => Some((|byte| matches!(byte, b'0' | b'1'), "binary")),
            _ => None,
        };
        let (token, kind) = match radix {
            Some((is_digit, kind)) => {
                self.at += 2;
                // `0x_f` is allowed.
                self.at += usize::from(self.peek(0) == b'_');
                if self.digits(is_digit)? == 0 {
                    return Err(self.malformed(start, kind));
                }
                (Tok::Int { value: BigInt::default() }, kind)
            }
            None => self.decimal(start)?,
        };
        if self.runs_into_a_word() {
            return Err(self.malformed(start, kind));
        }
        self.push(token, start);
        Ok(())
    }

    fn decimal(&mut self, start: usize) -> Result<(Tok, &'static str), Diagnostic> {
        let digits = self.digits(|byte| byte.is_ascii_digit())?;
        let whole = &self.bytes[start..self.at];
        let is_padded = digits > 1 && whole[0] == b'0' && whole.iter().any(|byte| matches!(byte, b'1'..=b'9'));
        let mut is_float = false;
        if self.peek(0) == b'.' {
            is_float = true;
            self.at += 1;
            if self.peek(0).is_ascii_digit() {
                self.digits(|byte| byte.is_ascii_digit())?;
            }
        }
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if self.peek(1 + sign).is_ascii_digit() {
                is_float = true;
                self.at += 1 + sign;
                self.digits(|byte| byte.is_ascii_digit())?;
            }
        }
        if matches!(self.peek(0), b'j' | b'J') {
            self.at += 1;
            return Ok((Tok::Complex { real: 0.0, imag: 0.0 }, "imaginary"));
        }
        if is_float {
            return Ok((Tok::Float { value: 0.0 }, "decimal"));
        }
        let range = Range::new(start, self.at);
        if is_padded {
            return Err(error("a decimal number does not begin with zeros; write `0o` before an octal one", range));
        }
        if digits > MAX_DIGITS && self.bytes[start] != b'0' {
            return Err(error(format!("a decimal number of more than {MAX_DIGITS} digits"), range));
        }
        Ok((Tok::Int { value: BigInt::default() }, "decimal"))
    }

    /// Passes digits with single underscores between them; how many digits there were.
    fn digits(&mut self, is_digit: IsDigit) -> Result<usize, Diagnostic> {
        let start = self.at;
        let mut count = 0;
        loop {
            while is_digit(self.peek(0)) {
                self.at += 1;
                count += 1;
            }
            if self.peek(0) != b'_' || count == 0 {
                return Ok(count);
            }
            if !is_digit(self.peek(1)) {
                return Err(self.malformed(start, "decimal"));
            }
            self.at += 1;
        }
    }

    /// `1abc` is no number, but `1if x else y` is one and a keyword.
    fn runs_into_a_word(&self) -> bool {
        let rest = &self.bytes[self.at..];
        match self.peek(0) {
            b'0'..=b'9' | b'_' | 0x80.. => true,
            byte if byte.is_ascii_alphabetic() => !["and", "else", "for", "if", "in", "is", "not", "or"]
                .iter()
                .any(|word| rest.starts_with(word.as_bytes())),
            _ => false,
        }
    }

    fn malformed(&self, start: usize, kind: &str) -> Diagnostic {
        let mut end = self.at + 1;
        while !self.text.is_char_boundary(end) && end < self.text.len() {
            end += 1;
        }
        error(format!("invalid {kind} literal"), Range::new(start, end.min(self.text.len())))
    }
}
