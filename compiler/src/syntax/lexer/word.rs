//! Names and keywords.

use super::Lexer;
use super::token::error;
use crate::diagnostics::Diagnostic;
use crate::source::Range;
use crate::syntax::downlevel;
use rustpython_parser::Tok;

impl Lexer<'_> {
    pub(super) fn word_or_string(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        while matches!(self.peek(0), b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_') {
            self.at += 1;
        }
        if self.peek(0) >= 0x80 {
            self.at = start;
            return self.wide_name();
        }
        let word = &self.text[start..self.at];
        if matches!(self.peek(0), b'"' | b'\'') && word.len() <= 2 {
            return self.string(start);
        }
        let token = keyword(word).unwrap_or_else(|| {
            downlevel::type_keyword(&mut self.done.tokens);
            Tok::Name { name: word.to_owned() }
        });
        self.push(token, start);
        Ok(())
    }

    /// A name with characters beyond ASCII.
    fn wide_name(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        for c in self.text[start..].chars() {
            let fits = if self.at == start {
                c == '_' || unicode_ident::is_xid_start(c)
            } else {
                unicode_ident::is_xid_continue(c)
            };
            if !fits {
                // An ASCII character that does not fit begins the next token.
                if c.is_ascii() && self.at > start {
                    break;
                }
                let range = Range::new(self.at, self.at + c.len_utf8());
                let what = if c.is_control() || c.is_whitespace() { "non-printable character" } else { "character" };
                let shown = if c.is_control() || c.is_whitespace() { String::new() } else { format!(" `{c}`") };
                return Err(error(format!("invalid {what}{shown} (U+{:04X})", u32::from(c)), range));
            }
            self.at += c.len_utf8();
        }
        downlevel::type_keyword(&mut self.done.tokens);
        let name = self.text[start..self.at].to_owned();
        self.push(Tok::Name { name }, start);
        Ok(())
    }
}

fn keyword(word: &str) -> Option<Tok> {
    Some(match word {
        "False" => Tok::False,
        "None" => Tok::None,
        "True" => Tok::True,
        "and" => Tok::And,
        "as" => Tok::As,
        "assert" => Tok::Assert,
        "async" => Tok::Async,
        "await" => Tok::Await,
        "break" => Tok::Break,
        "class" => Tok::Class,
        "continue" => Tok::Continue,
        "def" => Tok::Def,
        "del" => Tok::Del,
        "elif" => Tok::Elif,
        "else" => Tok::Else,
        "except" => Tok::Except,
        "finally" => Tok::Finally,
        "for" => Tok::For,
        "from" => Tok::From,
        "global" => Tok::Global,
        "if" => Tok::If,
        "import" => Tok::Import,
        "in" => Tok::In,
        "is" => Tok::Is,
        "lambda" => Tok::Lambda,
        "nonlocal" => Tok::Nonlocal,
        "not" => Tok::Not,
        "or" => Tok::Or,
        "pass" => Tok::Pass,
        "raise" => Tok::Raise,
        "return" => Tok::Return,
        "try" => Tok::Try,
        "while" => Tok::While,
        "with" => Tok::With,
        "yield" => Tok::Yield,
        _ => return None,
    })
}
