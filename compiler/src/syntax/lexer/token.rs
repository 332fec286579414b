//! A token, and what is said where there is none.

use crate::diagnostics::{Code, Diagnostic};
use crate::source::Range;
use rustpython_parser::Tok;
use rustpython_parser::ast::text_size::{TextRange, TextSize};

/// A token and its place.
pub(in crate::syntax) type Spanned = (Tok, TextRange);

/// One or more adjacent strings of which at least one has fields.
#[derive(Clone, Copy, Debug)]
pub(in crate::syntax) struct Formatted {
    /// From the first prefix to the last quote.
    pub range: Range,
    /// A t-string: its value holds the objects themselves, not their text.
    pub is_template: bool,
}

pub(super) fn span(start: usize, end: usize) -> TextRange {
    TextRange::new(offset(start), offset(end))
}

/// The caller refuses texts of 4 GiB and more.
fn offset(at: usize) -> TextSize {
    TextSize::new(u32::try_from(at).unwrap_or(u32::MAX))
}

pub(in crate::syntax) fn error(message: impl Into<String>, range: Range) -> Diagnostic {
    Diagnostic {
        code: Code::Syntax,
        message: message.into(),
        range,
        help: "nothing was written; `python -m py_compile` on the file shows what Python itself says".to_owned(),
    }
}

pub(in crate::syntax) fn too_deep(message: String, at: usize) -> Diagnostic {
    Diagnostic {
        code: Code::Nesting,
        message,
        range: Range::new(at, at + 1),
        help: "Python refuses it too; split it into smaller parts".to_owned(),
    }
}
