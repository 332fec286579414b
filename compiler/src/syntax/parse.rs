//! Runs lexer and parser, and turns the parser's errors into diagnostics.

use super::deep::{DEEP_STACK, on_deep_stack};
use super::lexer::token::error;
use super::lexer::{Lexed, lex};
use super::lower::Lowering;
use super::tokens::Tokens;
use super::tree::Module;
use crate::diagnostics::{Code, Diagnostic};
use crate::source::{Range, Source};
use rustpython_parser::{Mode, ParseError, Tok, ast, parse_tokens};

/// Below this size no file can nest deeply enough to need the deep stack.
const SMALL: usize = 500;

/// Most stack that the parser's tree of a file needs, per byte of text: each byte may be a level.
const STACK_PER_BYTE: usize = 512;

/// Parses a file.
///
/// # Errors
/// One diagnostic with the place of the first error.
pub fn parse(source: &Source) -> Result<(Module, Tokens), Diagnostic> {
    let length = source.text.len();
    if length < SMALL {
        return parse_here(source);
    }
    on_deep_stack(DEEP_STACK.max(length.saturating_mul(STACK_PER_BYTE)), || parse_here(source))
}

fn parse_here(source: &Source) -> Result<(Module, Tokens), Diagnostic> {
    let text = source.text.as_str();
    if let Some(at) = text.bytes().position(|byte| byte == 0) {
        let mut diagnostic = error("source code cannot contain null bytes", Range::new(at, at + 1));
        diagnostic.help = "is this a Python file? UTF-16 text has a null byte in every other place".to_owned();
        return Err(diagnostic);
    }
    if u32::try_from(text.len()).is_err() {
        let help = "split the file".to_owned();
        let message = "a file of 4 GiB or more".to_owned();
        return Err(Diagnostic { code: Code::Nesting, message, range: Range::default(), help });
    }
    let Lexed { tokens, facts, mut formatted, asides } = lex(text)?;
    formatted.sort_by_key(|run| run.range.start);
    for aside in asides {
        let parsed = parse_tokens(aside.into_iter().map(Ok), Mode::Expression, "");
        if let ast::Mod::Expression(parsed) = parsed.map_err(|error| rejected(source, error))? {
            Lowering::new(text, &formatted).aside(*parsed.body)?;
        }
    }
    let parsed = parse_tokens(tokens.into_iter().map(Ok), Mode::Module, "").map_err(|error| rejected(source, error))?;
    match parsed {
        ast::Mod::Module(module) => Ok((Lowering::new(text, &formatted).module(module)?, facts)),
        _ => Err(error("not a module", Range::default())),
    }
}

/// The parser's words, in ours.
fn rejected(source: &Source, found: ParseError) -> Diagnostic {
    use rustpython_parser::ParseErrorType;
    let message = match found.error {
        ParseErrorType::UnrecognizedToken(token, _) | ParseErrorType::ExtraToken(token) => match token {
            Tok::Newline => "invalid syntax: the line ends too early".to_owned(),
            Tok::Indent | Tok::Dedent => "invalid syntax: unexpected indentation".to_owned(),
            Tok::String { .. } => "invalid syntax: unexpected string".to_owned(),
            Tok::Int { .. } | Tok::Float { .. } | Tok::Complex { .. } => "invalid syntax: unexpected number".to_owned(),
            token => format!("invalid syntax: unexpected {token}"),
        },
        ParseErrorType::Eof => "invalid syntax: the file ends too early".to_owned(),
        other => other.to_string(),
    };
    let mut start = usize::from(found.offset).min(source.text.len());
    while !source.text.is_char_boundary(start) {
        start -= 1;
    }
    let width = source.text[start..].chars().next().map_or(0, char::len_utf8);
    error(message, Range::new(start, start + width))
}
