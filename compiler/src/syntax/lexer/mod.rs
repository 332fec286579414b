//! Text to tokens, by the rules of CPython 3.14's tokenizer, in the words of the parser's own token type.
//!
//! The parser's own lexer stops at Python 3.11. Ours reads every newer spelling; where the grammar behind it knows only an
//! older one, the tokens are rewritten as they are made ([`super::downlevel`]). No byte of text is copied or moved, so
//! every range in the tree is a range of the user's file.

mod escape;
mod format;
mod layout;
mod number;
mod operator;
mod string;
pub(super) mod token;
mod word;

use super::downlevel;
use super::tokens::Tokens;
use crate::diagnostics::Diagnostic;
use crate::source::Range;
use rustpython_parser::Tok;
use token::{Formatted, Spanned, error, span, too_deep};

/// Deepest nesting of brackets: CPython's own limit.
const MAX_BRACKETS: usize = 200;

/// What the lexer makes of a file.
#[derive(Default)]
pub(super) struct Lexed {
    /// For the parser.
    pub tokens: Vec<Spanned>,
    /// For the emitter.
    pub facts: Tokens,
    /// The strings with fields, in order of their ends: the parser sees a tuple of their fields in their place.
    pub formatted: Vec<Formatted>,
    /// Expressions that the grammar has no room for; they are parsed for their errors alone.
    pub asides: Vec<Vec<Spanned>>,
}

/// Makes the tokens of a text.
///
/// # Errors
/// One diagnostic with the place of the first error.
pub(super) fn lex(text: &str) -> Result<Lexed, Diagnostic> {
    let mut lexer = Lexer::new(text);
    lexer.file()?;
    Ok(lexer.done)
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    done: Lexed,
    /// Open brackets, innermost last.
    brackets: Vec<Bracket>,
    /// Blocks, outermost first; the module is the first.
    blocks: Vec<Block>,
    /// The next block belongs to a `match` statement.
    opens_match: bool,
    /// Where the tokens of the present logical line begin.
    line: usize,
    /// How many fields of formatted strings are open around this place.
    fields: usize,
}

/// An open bracket.
struct Bracket {
    byte: u8,
    at: usize,
    /// Of `[T]` after the name of a definition: where its tokens begin.
    type_parameters: Option<usize>,
}

/// An indented block.
struct Block {
    /// Its column where a tab goes to the next multiple of eight.
    column: usize,
    /// Its column where a tab is one blank: the two together find inconsistent tabs.
    narrow: usize,
    is_match: bool,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        let mut done = Lexed::default();
        done.tokens.reserve(text.len() / 4);
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            done,
            brackets: Vec::new(),
            blocks: vec![Block { column: 0, narrow: 0, is_match: false }],
            opens_match: false,
            line: 0,
            fields: 0,
        }
    }

    /// The byte `ahead` of this place; 0 past the end (a NUL byte in the text is refused first).
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn push(&mut self, token: Tok, start: usize) {
        self.done.tokens.push((token, span(start, self.at)));
    }

    /// Makes one token; blanks before it are gone.
    fn token(&mut self) -> Result<(), Diagnostic> {
        match self.peek(0) {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.word_or_string(),
            b'0'..=b'9' => self.number(),
            b'.' if self.peek(1).is_ascii_digit() => self.number(),
            b'"' | b'\'' => self.string(self.at),
            b'(' | b'[' | b'{' => self.open(),
            b')' | b']' | b'}' => self.close(),
            _ => self.operator(),
        }
    }

    fn open(&mut self) -> Result<(), Diagnostic> {
        let (at, byte) = (self.at, self.peek(0));
        if self.brackets.len() >= MAX_BRACKETS {
            return Err(too_deep(format!("brackets nest deeper than {MAX_BRACKETS} levels"), at));
        }
        let type_parameters =
            (byte == b'[' && downlevel::follows_definition(&self.done.tokens)).then_some(self.done.tokens.len());
        self.brackets.push(Bracket { byte, at, type_parameters });
        self.at += 1;
        self.push(
            match byte {
                b'(' => Tok::Lpar,
                b'[' => Tok::Lsqb,
                _ => Tok::Lbrace,
            },
            at,
        );
        Ok(())
    }

    fn close(&mut self) -> Result<(), Diagnostic> {
        let (at, byte) = (self.at, self.peek(0));
        let range = Range::new(at, at + 1);
        let shown = char::from(byte);
        let Some(bracket) = self.brackets.pop() else {
            return Err(error(format!("unmatched `{shown}`"), range));
        };
        let (token, wanted) = match bracket.byte {
            b'(' => (Tok::Rpar, b')'),
            b'[' => (Tok::Rsqb, b']'),
            _ => (Tok::Rbrace, b'}'),
        };
        if byte != wanted {
            let opened = char::from(bracket.byte);
            return Err(error(format!("`{shown}` does not match the opening `{opened}`"), range));
        }
        self.stars_before(&token)?;
        self.at += 1;
        self.push(token, at);
        if let Some(first) = bracket.type_parameters {
            let tokens = self.done.tokens.split_off(first);
            downlevel::type_parameters(tokens, &mut self.done.asides)?;
        }
        Ok(())
    }
}
