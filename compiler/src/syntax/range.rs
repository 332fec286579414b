//! Ranges of the parser as ours.

use crate::source::Range;
use rustpython_parser::ast::text_size::TextRange;

pub(super) fn to_range(range: TextRange) -> Range {
    Range::new(usize::from(range.start()), usize::from(range.end()))
}
