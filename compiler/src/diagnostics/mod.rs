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
        let (text, before, width) = shown(text, col, source.slice(self.range));
        let pad: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let carets = "^".repeat(width);
        let gutter = line.to_string().len();
        let mut out = String::new();
        let column = source.slice(Range::new(start, start + col)).chars().count() + 1;
        let _ = writeln!(out, "error[{}]: {}", self.code.name(), self.message);
        let _ = writeln!(out, "{:gutter$}--> {}:{line}:{column}", "", source.name);
        let _ = writeln!(out, "{:gutter$} |", "");
        let _ = writeln!(out, "{line} | {text}");
        let _ = writeln!(out, "{:gutter$} | {pad}{carets}", "");
        let _ = writeln!(out, "{:gutter$} = help: {}", "", self.help);
        out
    }
}

/// Most characters of a line that are shown: generated files have lines of megabytes.
const WIDTH: usize = 160;

/// The part of a line that is shown, what stands before byte `col` of it, and how many carets go below.
fn shown(line: &str, col: usize, covered: &str) -> (String, String, usize) {
    // A control character would spoil the terminal.
    let visible =
        |text: &str| -> String { text.chars().map(|c| if c.is_control() && c != '\t' { '·' } else { c }).collect() };
    let before = line.get(..col.min(line.len())).unwrap_or(line);
    let after = &line[before.len()..];
    let covered = covered.split(['\n', '\r']).next().unwrap_or("").chars().count();
    let cut = before.chars().count().saturating_sub(WIDTH / 2);
    let mut shown_before: String = visible(before).chars().skip(cut).collect();
    if cut > 0 {
        shown_before.insert(0, '…');
    }
    let room = WIDTH - shown_before.chars().count().min(WIDTH / 2 + 1);
    let mut shown_after: String = visible(after).chars().take(room).collect();
    let width = covered.clamp(1, room.max(1)).min(shown_after.chars().count().max(1));
    if after.chars().nth(room).is_some() {
        shown_after.push('…');
    }
    (format!("{shown_before}{shown_after}"), shown_before, width)
}
