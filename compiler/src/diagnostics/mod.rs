//! What the user is told when a file cannot be used.

use crate::source::{Range, Source};
use std::fmt::Write as _;

/// Codes are stable: they may be searched for and linked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The file is not Python that florc can parse.
    Syntax,
    /// The bytes are not text in the declared encoding.
    Encoding,
    /// The file nests deeper than florc's limit.
    Nesting,
}

impl Code {
    /// The code as printed.
    pub fn name(self) -> &'static str {
        match self {
            Code::Syntax => "E001",
            Code::Encoding => "E002",
            Code::Nesting => "E003",
        }
    }
}

/// One message with a place, a reason and a way out.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Which kind of message.
    pub code: Code,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where.
    pub range: Range,
    /// What to do about it.
    pub help: String,
}

impl Diagnostic {
    /// Renders the message with the source line and carets.
    pub fn render(&self, source: &Source) -> String {
        let (line, col) = source.lines.line_col(self.range.start.min(source.text.len()));
        let start = source.lines.start_of(line);
        let end = source.lines.start_of(line + 1);
        let text = source.slice(Range::new(start, end)).trim_end_matches(['\n', '\r']);
        let before = text.get(..col.min(text.len())).unwrap_or(text);
        let pad: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let covered = source.slice(Range::new(self.range.start, self.range.end.min(start + text.len())));
        let carets = "^".repeat(covered.chars().count().max(1));
        let gutter = line.to_string().len();
        let mut out = String::new();
        let column = before.chars().count() + 1;
        let _ = writeln!(out, "error[{}]: {}", self.code.name(), self.message);
        let _ = writeln!(out, "{:gutter$}--> {}:{line}:{column}", "", source.name);
        let _ = writeln!(out, "{:gutter$} |", "");
        let _ = writeln!(out, "{line} | {text}");
        let _ = writeln!(out, "{:gutter$} | {pad}{carets}", "");
        let _ = writeln!(out, "{:gutter$} = help: {}", "", self.help);
        out
    }
}
