//! Operators and delimiters.

use super::Lexer;
use super::token::error;
use crate::diagnostics::Diagnostic;
use crate::source::Range;
use crate::syntax::downlevel;
use crate::syntax::range::to_range;
use rustpython_parser::Tok;

impl Lexer<'_> {
    pub(super) fn operator(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        let Some((token, width)) = operator([self.peek(0), self.peek(1), self.peek(2)]) else {
            let shown = char::from(self.peek(0));
            let range = Range::new(start, start + 1);
            let message = if shown.is_ascii_graphic() {
                format!("invalid syntax: unexpected `{shown}`")
            } else {
                format!("invalid non-printable character U+{:04X}", u32::from(shown))
            };
            return Err(error(message, range));
        };
        if token == Tok::Colon && self.brackets.is_empty() {
            downlevel::exceptions(&mut self.done.tokens, self.line);
        }
        self.stars_before(&token)?;
        self.at += width;
        self.push(token, start);
        Ok(())
    }
}

impl Lexer<'_> {
    /// `**` without an operand, and a bare `*` before `**`: the grammar lets both pass among parameters.
    pub(super) fn stars_before(&self, token: &Tok) -> Result<(), Diagnostic> {
        let missing = match (self.done.tokens.as_slice(), token) {
            ([.., (Tok::DoubleStar, range)], Tok::Comma | Tok::Colon | Tok::Rpar) => range,
            ([.., (Tok::Star, range), (Tok::Comma, _)], Tok::DoubleStar) => range,
            _ => return Ok(()),
        };
        Err(error("a name is missing after the stars", to_range(*missing)))
    }
}

/// The operator that begins with these bytes, and its width.
fn operator(bytes: [u8; 3]) -> Option<(Tok, usize)> {
    three(bytes)
        .map(|token| (token, 3))
        .or_else(|| two([bytes[0], bytes[1]]).map(|token| (token, 2)))
        .or_else(|| one(bytes[0]).map(|token| (token, 1)))
}

fn three(bytes: [u8; 3]) -> Option<Tok> {
    Some(match &bytes {
        b"..." => Tok::Ellipsis,
        b"**=" => Tok::DoubleStarEqual,
        b"//=" => Tok::DoubleSlashEqual,
        b"<<=" => Tok::LeftShiftEqual,
        b">>=" => Tok::RightShiftEqual,
        _ => return None,
    })
}

fn two(bytes: [u8; 2]) -> Option<Tok> {
    Some(match &bytes {
        b"==" => Tok::EqEqual,
        b"!=" => Tok::NotEqual,
        b"<=" => Tok::LessEqual,
        b">=" => Tok::GreaterEqual,
        b"<<" => Tok::LeftShift,
        b">>" => Tok::RightShift,
        b"**" => Tok::DoubleStar,
        b"//" => Tok::DoubleSlash,
        b"+=" => Tok::PlusEqual,
        b"-=" => Tok::MinusEqual,
        b"*=" => Tok::StarEqual,
        b"/=" => Tok::SlashEqual,
        b"%=" => Tok::PercentEqual,
        b"&=" => Tok::AmperEqual,
        b"|=" => Tok::VbarEqual,
        b"^=" => Tok::CircumflexEqual,
        b"@=" => Tok::AtEqual,
        b":=" => Tok::ColonEqual,
        b"->" => Tok::Rarrow,
        _ => return None,
    })
}

fn one(byte: u8) -> Option<Tok> {
    Some(match byte {
        b':' => Tok::Colon,
        b',' => Tok::Comma,
        b';' => Tok::Semi,
        b'+' => Tok::Plus,
        b'-' => Tok::Minus,
        b'*' => Tok::Star,
        b'/' => Tok::Slash,
        b'|' => Tok::Vbar,
        b'&' => Tok::Amper,
        b'<' => Tok::Less,
        b'>' => Tok::Greater,
        b'=' => Tok::Equal,
        b'.' => Tok::Dot,
        b'%' => Tok::Percent,
        b'~' => Tok::Tilde,
        b'^' => Tok::CircumFlex,
        b'@' => Tok::At,
        _ => return None,
    })
}
