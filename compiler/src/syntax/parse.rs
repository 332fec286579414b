//! Runs the parser on a thread with a deep stack, and turns its errors into diagnostics.

use super::lower::Lowering;
use super::tokens::Tokens;
use super::tree::Module;
use crate::diagnostics::{Code, Diagnostic};
use crate::source::{Range, Source};
use rustpython_parser::{Mode, Tok, ast, lexer, parse_tokens};

/// Deepest nesting of brackets and blocks that is accepted. CPython itself stops below this.
pub const MAX_NESTING: usize = 10_000;

/// The parser recurses once or more per level of nesting; 10,000 levels fit in this with room to spare.
const STACK_BYTES: usize = 256 << 20;

/// Below this size no file can nest deeply enough to need the deep stack.
const SHALLOW_BYTES: usize = 2_000;

/// Parses a file.
///
/// # Errors
/// One diagnostic with the place of the first error.
pub fn parse(source: &Source) -> Result<(Module, Tokens), Diagnostic> {
    if source.text.len() < SHALLOW_BYTES {
        return parse_here(source);
    }
    std::thread::scope(|scope| {
        let spawned = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || parse_here(source));
        match spawned.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            // The parser has asserts of its own: what breaks one is not Python either.
            Ok(Err(_)) => Err(syntax_error("the parser gave up on this file".to_owned(), Range::default())),
            Err(_) => parse_here(source),
        }
    })
}

fn parse_here(source: &Source) -> Result<(Module, Tokens), Diagnostic> {
    let mut tokens = Tokens::default();
    let mut depth = Depth::default();
    let mut too_deep = None;
    let mut lexed = Vec::new();
    for item in lexer::lex(&source.text, Mode::Module) {
        if let Ok((token, range)) = &item {
            let range = to_range(*range);
            tokens.push(token, range);
            if depth.after(token) > MAX_NESTING {
                too_deep.get_or_insert(range);
            }
        }
        let failed = item.is_err();
        lexed.push(item);
        if failed {
            // The lexer repeats an error at the end of the file for ever.
            break;
        }
    }
    if let Some(range) = too_deep {
        return Err(Diagnostic {
            code: Code::Nesting,
            message: format!("this file nests deeper than {MAX_NESTING} levels"),
            range,
            help: "Python refuses it too; split the expression".to_owned(),
        });
    }
    let parsed = parse_tokens(lexed, Mode::Module, &source.name)
        .map_err(|error| rejected(source, usize::from(error.offset), &error.error.to_string()))?;
    match parsed {
        ast::Mod::Module(module) => Ok((Lowering::default().module(module), tokens)),
        _ => Err(syntax_error("not a module".to_owned(), Range::default())),
    }
}

fn syntax_error(message: String, range: Range) -> Diagnostic {
    Diagnostic {
        code: Code::Syntax,
        message,
        range,
        help: "nothing was written; `python -m py_compile` on the file shows what Python itself says".to_owned(),
    }
}

/// The parser's words, in ours.
fn rejected(source: &Source, offset: usize, said: &str) -> Diagnostic {
    let said = said.strip_prefix("Got ").unwrap_or(said);
    let (message, back) = match said.strip_prefix("invalid syntax. Got unexpected token ") {
        Some("Newline") => ("invalid syntax: the line ends too early".to_owned(), 0),
        Some("Indent" | "Dedent") => ("invalid syntax: unexpected indentation".to_owned(), 0),
        Some(token) => (format!("invalid syntax: unexpected {token}"), 0),
        // The error is reported at the start of the next line.
        None if said.starts_with("EOL") => ("a string is not closed on its line".to_owned(), 1),
        None => (said.to_owned(), 0),
    };
    let mut start = offset.min(source.text.len()).saturating_sub(back);
    while !source.text.is_char_boundary(start) {
        start -= 1;
    }
    let width = source.text[start..].chars().next().map_or(0, char::len_utf8);
    syntax_error(message, Range::new(start, start + width))
}

pub(super) fn to_range(range: ast::text_size::TextRange) -> Range {
    Range::new(usize::from(range.start()), usize::from(range.end()))
}

#[derive(Default)]
struct Depth {
    brackets: usize,
    blocks: usize,
}

impl Depth {
    fn after(&mut self, token: &Tok) -> usize {
        match token {
            Tok::Lpar | Tok::Lsqb | Tok::Lbrace => self.brackets += 1,
            Tok::Rpar | Tok::Rsqb | Tok::Rbrace => self.brackets = self.brackets.saturating_sub(1),
            Tok::Indent => self.blocks += 1,
            Tok::Dedent => self.blocks = self.blocks.saturating_sub(1),
            _ => {}
        }
        self.brackets + self.blocks
    }
}
