//! The marks of added statements: what runs within one is the added statement, and nothing else.

use super::runtime;
use super::wrap::Writer;
use crate::source::Range;
use crate::syntax::tree::{Stmt, StmtKind};

/// Before everything else that is put where a suite begins.
const FIRST: isize = isize::MIN + 2;

impl Writer<'_> {
    /// Marks an added statement; of an added function, its body. Of the statements of a file (`all`, in source order), those that
    /// share its line get lines of their own where it needs that; `is_marked` says of which that is done anyway.
    pub fn wrap_probe(&mut self, stmt: &Stmt, id: &str, all: &[&Stmt], is_marked: impl Fn(&Stmt) -> bool) {
        let (first, last) = match &stmt.kind {
            StmtKind::Function(function) => match (function.body.first(), function.body.last()) {
                (Some(first), Some(last)) => (first, last),
                _ => return,
            },
            _ => (stmt, stmt),
        };
        let range = Range::new(first.range.start, last.range.end);
        if range.start < self.marked_to {
            return; // it is part of a statement that is marked
        }
        self.marked_to = range.end;
        let begin = self.line_begin(range.start);
        let suite = suite_on_line(all, begin, self.line_end(begin)).filter(|suite| *suite <= range.start);
        let mut blanks = self.indentation(Range::new(begin, begin));
        if let Some(suite) = suite {
            blanks += &self.unit(Range::new(begin, range.end));
            if self.opened.replace(suite) != Some(suite) && suite < range.start {
                self.insert(suite, FIRST, format!("{}{blanks}", self.newline));
            }
        }
        let line_end = self.line_end(range.end.max(1) - 1);
        let next = all.iter().find(|next| next.range.start >= range.end).filter(|next| next.range.start < line_end);
        if let Some(next) = next.filter(|next| !is_marked(next)) {
            self.insert(next.range.start, 0, format!("{}{blanks}", self.newline));
        }
        if suite.is_some() || begin != range.start {
            let text = format!("{}{blanks}with {}.{}(\"{id}\"): ", self.newline, self.alias, runtime::PROBE);
            self.insert(range.start, 0, text);
            return;
        }
        let unit = self.unit(range);
        let open = format!("with {}.{}(\"{id}\"):{}{blanks}{unit}", self.alias, runtime::PROBE, self.newline);
        self.put_around(range, open, String::new());
    }

    /// Marks what others call later: the body of a lambda in an added statement, or what it hands to them (`is_handed`).
    pub fn wrap_later(&mut self, part: Range, id: &str, is_handed: bool) {
        let end = if is_handed { ", True)" } else { ")" };
        self.around(part, format!("{}.{}(\"{id}\", lambda: ", self.alias, runtime::PROBED), end);
    }

    fn line_end(&self, offset: usize) -> usize {
        self.tokens.logical_line_end(offset, self.source.text.len())
    }

    /// Where the first thing is on the logical line of what begins here.
    fn line_begin(&self, start: usize) -> usize {
        let mut at = self.tokens.logical_line_start(start);
        for line in self.source.text[at..start].split_inclusive(['\n', '\r']) {
            let text = line.trim_start();
            if !text.is_empty() && !text.starts_with('#') {
                return at + line.len() - text.len();
            }
            at += line.len();
        }
        start
    }
}

/// Where the suite begins that stands on the line of its header: `for x in y: a; print(x)`, `else: a`.
fn suite_on_line(all: &[&Stmt], begin: usize, end: usize) -> Option<usize> {
    let header = all.iter().find(|stmt| stmt.range.start == begin);
    let first = all.iter().find(|stmt| stmt.range.start > begin && stmt.range.start < end)?;
    header.is_none_or(|header| header.range.contains(first.range)).then_some(first.range.start)
}
