//! How far the parser's tree is lowered: what every part of it needs.

use crate::diagnostics::Diagnostic;
use crate::ids::StmtId;
use crate::source::Range;
use crate::syntax::lexer::token::{Formatted, too_deep};

/// Deepest nesting of the tree. CPython itself stops below this.
pub const MAX_NESTING: usize = 10_000;

/// Numbers the statements as it goes.
pub(in crate::syntax) struct Lowering<'a> {
    pub(super) text: &'a str,
    pub(super) formatted: &'a [Formatted],
    pub(super) next_id: StmtId,
    depth: usize,
    pub(super) deepest: usize,
    pub(super) error: Option<Diagnostic>,
}

impl<'a> Lowering<'a> {
    /// `formatted` is sorted by where the strings begin.
    pub(in crate::syntax) fn new(text: &'a str, formatted: &'a [Formatted]) -> Self {
        Self { text, formatted, next_id: StmtId::FIRST, depth: 0, deepest: 0, error: None }
    }

    /// The formatted string whose tuple this is.
    pub(super) fn formatted(&self, range: Range) -> Option<Formatted> {
        let at = self.formatted.binary_search_by_key(&range.start, |run| run.range.start).ok()?;
        Some(self.formatted[at]).filter(|run| run.range == range)
    }

    /// Goes one level down, unless that is too deep; every `enter` that says yes has its `leave`.
    pub(super) fn enter(&mut self, range: Range) -> bool {
        if self.depth >= MAX_NESTING {
            if self.error.is_none() {
                let message = format!("this file nests deeper than {MAX_NESTING} levels");
                self.error = Some(too_deep(message, range.start));
            }
            return false;
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        true
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }
}
