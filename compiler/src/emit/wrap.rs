//! The shapes that are written around loops. Those of added statements are in `marks`.

use super::edits::Edit;
use super::room::has_room;
use super::runtime;
use crate::effects::Change;
use crate::ids::StmtId;
use crate::loops::{breaks_of, loop_body};
use crate::plan::{LoopPlan, Room, room};
use crate::source::{Range, Source};
use crate::syntax::Tokens;
use crate::syntax::tree::{Expr, Stmt, StmtKind};
use std::collections::BTreeSet;

/// Collects insertions. Insertions at one offset keep the order in which outer statements come before inner ones when
/// they open, and after them when they close.
pub(super) struct Writer<'a> {
    pub(super) source: &'a Source,
    pub(super) tokens: &'a Tokens,
    pub(super) alias: &'a str,
    pub(super) newline: &'a str,
    insertions: Vec<Insertion>,
    /// What is indented one step further, outer before inner.
    indented: Vec<Indented>,
    /// Where the last marked statement ends.
    pub(super) marked_to: usize,
    /// Where the last suite begins that stood on the line of its header.
    pub(super) opened: Option<usize>,
}

struct Insertion {
    edit: Edit,
    /// Order among insertions at one offset.
    rank: isize,
}

/// Lines that are indented by `unit`, put `at` bytes after their start.
struct Indented {
    range: Range,
    at: usize,
    unit: String,
}

impl<'a> Writer<'a> {
    pub fn new(source: &'a Source, tokens: &'a Tokens, alias: &'a str) -> Self {
        Self {
            source,
            tokens,
            alias,
            newline: newline_of(&source.text),
            insertions: Vec::new(),
            indented: Vec::new(),
            marked_to: 0,
            opened: None,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.insertions.is_empty()
    }

    pub fn finish(mut self) -> Vec<Edit> {
        self.insertions.sort_by_key(|insertion| (insertion.edit.offset, insertion.rank));
        self.insertions.into_iter().map(|insertion| insertion.edit).collect()
    }

    pub(super) fn insert(&mut self, offset: usize, rank: isize, text: String) {
        self.insertions.push(Insertion { edit: Edit { offset, text, anchor: offset }, rank });
    }

    pub fn import(&mut self, offset: usize) {
        let text = format!("import florc as {}{}", self.alias, self.newline);
        let starts_line = offset == 0 || self.source.text[..offset].ends_with(['\n', '\r']);
        let text = if starts_line { text } else { format!("{}{text}", self.newline) };
        self.insert(offset, isize::MIN, text);
    }

    /// `all`: the statements of the file, in source order.
    pub fn wrap_loop(&mut self, stmt: &Stmt, plan: &LoopPlan, all: &[&Stmt]) {
        if plan.is_followed() {
            match &stmt.kind {
                StmtKind::For(node) => self.wrap_iterator(&node.iter, &plan.id),
                StmtKind::While { test, .. } => self.wrap_condition(test, &plan.id),
                _ => {}
            }
        }
        if plan.is_memoized() {
            self.wrap_block(stmt, plan);
        }
        if plan.is_followed() && matches!(stmt.kind, StmtKind::While { .. }) {
            self.tell_whole(stmt, &plan.id, has_room(all, stmt));
        }
        if let Some(boundary) = &plan.boundary {
            self.open_iteration(stmt, &plan.id, &boundary.changes);
        }
    }

    /// A `for` loop tells by its iterator when it begins, and by the end of that, which no way out of the loop leaves out, when it
    /// is over. A `while` loop has none: it gets one around it, which holds no name.
    fn tell_whole(&mut self, stmt: &Stmt, id: &str, has_room: bool) {
        let (indent, nl) = (self.indentation(stmt.range), self.newline);
        if has_room {
            let unit = self.unit(stmt.range);
            let open = format!("for () in {}.{}(\"{id}\"):{nl}{indent}{unit}", self.alias, runtime::LOOP);
            self.put_around(stmt.range, open, String::new());
        } else {
            let text = format!("{}.{}(\"{id}\"){nl}{indent}", self.alias, runtime::BEGIN);
            self.insert(stmt.range.start, 0, text);
            for at in breaks_of(stmt) {
                self.insert(at.start, 0, format!("{}.{}(\"{id}\"); ", self.alias, runtime::LEFT));
            }
        }
    }

    /// Before the first statement of an iteration: its state may be materialized, or another one put in its place.
    fn open_iteration(&mut self, stmt: &Stmt, id: &str, changes: &[Change]) {
        let Some(range) = loop_body(stmt).first().map(|first| first.range) else { return };
        let (unit, indent, nl) = (self.unit(range), self.indentation(range), self.newline);
        let call = |name: &str, restoring| format!("{}.{name}(\"{id}\"{})", self.alias, arguments(changes, restoring));
        let text = format!("if {}:{nl}{indent}{unit}", call(runtime::BOUNDARY, false));
        let text = text + &self.put_back(changes, &call(runtime::RESUME, true), &format!("{indent}{unit}")) + &indent;
        self.insert(range.start, 0, text);
    }

    /// `loss, best = call`, or the call alone; then names that were unbound are unbound again. The call itself binds attributes that
    /// may be missing: so may the object that would hold them.
    fn put_back(&self, changes: &[Change], call: &str, indent: &str) -> String {
        let nl = self.newline;
        let is_target = |change: &&Change| change.bound && !change.global && !(change.maybe && change.is_attribute());
        let bound: Vec<&Change> = changes.iter().filter(is_target).collect();
        let targets: Vec<String> = bound.iter().map(|change| change.place.to_string()).collect();
        let mut text = match targets.as_slice() {
            [] => format!("{call}{nl}"),
            // One target is unpacked too, so that one value per target comes back.
            [one] => format!("{one}, = {call}{nl}"),
            several => format!("{} = {call}{nl}", several.join(", ")),
        };
        for change in bound.iter().filter(|change| change.maybe) {
            let unbound = format!("{}.{}", self.alias, runtime::UNBOUND);
            text += &format!("{indent}if {0} is {unbound}: del {0}{nl}", change.place);
        }
        text
    }

    fn wrap_iterator(&mut self, iter: &Expr, id: &str) {
        let open = format!("{}.{}(\"{id}\", (", self.alias, runtime::GENERATOR);
        self.around(iter.range, open, "))");
    }

    fn wrap_condition(&mut self, test: &Expr, id: &str) {
        let open = format!("{}.{}(\"{id}\") and (", self.alias, runtime::TICK);
        let close = format!(") or {}.{}(\"{id}\")", self.alias, runtime::OVER);
        self.around(test.range, open, &close);
    }

    /// The first thing that a function does, after its docstring, is to tell its number. The rest stays where it is: on the
    /// same line, unless that line begins a compound statement, or a call that becomes one (`blocks`).
    pub fn tell_entered(&mut self, statements: &[&Stmt], function: StmtId, number: usize, blocks: &BTreeSet<StmtId>) {
        let found = statements.binary_search_by_key(&function, |stmt| stmt.id);
        let Some(StmtKind::Function(node)) = found.ok().map(|at| &statements[at].kind) else { return };
        let call = format!("{}.{}({number})", self.alias, runtime::ENTERED);
        match room(self.source, node) {
            Some(Room::Before(at))
                if node.body.iter().any(|stmt| stmt.range.start == at && blocks.contains(&stmt.id)) =>
            {
                self.above(self.source.lines.start_of(self.source.lines.line(at)), at, &call);
            }
            Some(Room::Before(at)) => self.insert(at, 0, format!("{call}; ")),
            Some(Room::Above { line, at }) => self.above(line, at, &call),
            Some(Room::After(at)) => self.insert(at, 0, format!("; {call}")),
            None => {}
        }
    }

    /// On a line of its own, before what indents the line that begins at `line` further.
    fn above(&mut self, line: usize, at: usize, call: &str) {
        let text = format!("{}{call}{}", self.indentation(Range::new(at, at)), self.newline);
        self.insert(line, isize::MIN + 1, text);
    }

    /// What is called to get a value from outside. Loops that begin there are written around it.
    pub fn observe(&mut self, callee: Range) {
        self.insert(callee.start, 2, format!("{}.{}(", self.alias, runtime::OBSERVED));
        self.insert(callee.end, -2, ")".to_owned());
    }

    pub(super) fn around(&mut self, range: Range, open: String, close: &str) {
        // `in[1, 2]`, `while-x`: a keyword may stand right before.
        let before = self.source.text[..range.start].chars().next_back();
        let open = if before.is_some_and(|c| c == '_' || c.is_alphanumeric()) { format!(" {open}") } else { open };
        self.insert(range.start, 1, open);
        self.insert(range.end, -1, close.to_owned());
    }

    fn wrap_block(&mut self, stmt: &Stmt, plan: &LoopPlan) {
        let changes = &plan.changeset.changes;
        let unit = self.unit(stmt.range);
        let indent = self.indentation(stmt.range);
        let nl = self.newline;
        let call = |name: &str| format!("{}.{name}(\"{}\"", self.alias, plan.id);
        let open = format!("if {}):{nl}{indent}{unit}", call(runtime::STEP_INTO));
        let mut close = format!("{indent}{unit}{}{}){nl}", call(runtime::END), arguments(changes, false));
        close += &format!("{indent}else:{nl}{indent}{unit}");
        let restore = format!("{}{})", call(runtime::RESTORE), arguments(changes, true));
        close += &self.put_back(changes, &restore, &format!("{indent}{unit}"));
        self.put_around(stmt.range, open, close);
    }

    /// Opens before a range of whole statements, indents its lines one step, closes after its last logical line.
    pub(super) fn put_around(&mut self, range: Range, open: String, close: String) {
        let unit = self.unit(range);
        let end = self.tokens.logical_line_end(range.end.max(1) - 1, self.source.text.len());
        let first = self.source.lines.line(range.start);
        let last = self.source.lines.line(end.max(range.start + 1) - 1);
        let own = self.source.slice(Range::new(self.source.lines.start_of(first), range.start)).len();
        self.insert(range.start, 0, open);
        for line in first + 1..=last {
            let start = self.source.lines.start_of(line);
            let stop = self.source.lines.start_of(line + 1);
            let text = self.source.slice(Range::new(start, stop));
            // Blanks before a backslash at the very start of a line would become the indentation.
            if text.trim().is_empty() || text.starts_with('\\') || self.tokens.inside_string(start) {
                continue;
            }
            let blanks = text.len() - text.trim_start_matches([' ', '\t', '\x0c']).len();
            self.insert(start + own.min(blanks), 0, unit.clone());
        }
        self.indented.push(Indented { range, at: own, unit });
        if !close.is_empty() {
            let ends_line = self.source.text[..end].ends_with(['\n', '\r']);
            let close =
                if ends_line { close } else { format!("{}{}", self.newline, close.trim_end_matches(['\r', '\n'])) };
            // Inner blocks close before outer ones: the later a loop begins, the earlier its rank.
            let rank = -1 - isize::try_from(range.start).unwrap_or(isize::MAX - 1);
            self.insertions.push(Insertion { edit: Edit { offset: end, text: close, anchor: range.end }, rank });
        }
    }

    /// The blanks before a statement on its line, in the text as it will be: with the steps of the blocks around it.
    pub(super) fn indentation(&self, range: Range) -> String {
        let start = self.source.lines.start_of(self.source.lines.line(range.start));
        let mut text = self.source.text[start..range.start].to_owned();
        for outer in self.indented.iter().rev().filter(|outer| outer.range.contains(range)) {
            text.insert_str(outer.at.min(text.len()), &outer.unit);
        }
        // A form feed at the start of a line resets Python's column count; it must not be repeated.
        text.trim_start_matches('\x0c').to_owned()
    }

    /// One step of indentation in the style of the lines around: a tab where the block is indented by tabs.
    pub(super) fn unit(&self, range: Range) -> String {
        let first = self.source.lines.line(range.start);
        let own = self.source.lines.start_of(first);
        let uses_tabs = self.source.text[own..range.start].contains('\t')
            || (self.source.text[own..range.start].is_empty()
                && (first + 1..=self.source.lines.line(range.end)).any(|line| {
                    let start = self.source.lines.start_of(line);
                    self.source.text[start..].starts_with('\t') && !self.tokens.inside_string(start)
                }));
        if uses_tabs { "\t".to_owned() } else { "    ".to_owned() }
    }
}

/// `, net, maybe=("loss",), globals=("step",), attributes=("self.optimizer",)`. `restore` is not given names that may be unbound before.
fn arguments(changes: &[Change], restoring: bool) -> String {
    let mut out = String::new();
    for change in changes.iter().filter(|change| !change.by_name()) {
        let given = !restoring || !change.bound || change.bound_before;
        if given {
            out += &format!(", {}", change.place);
        } else {
            // Its object is new; the runtime learns its position from the plan.
            out += ", None";
        }
    }
    let named = |wanted: &dyn Fn(&&Change) -> bool| -> Vec<String> {
        changes.iter().filter(wanted).map(|change| format!("\"{}\"", change.name())).collect()
    };
    for (keyword, names) in [
        ("maybe", named(&|change: &&Change| change.maybe && !change.global)),
        ("globals", named(&|change: &&Change| change.global)),
        ("attributes", named(&|change: &&Change| change.is_attribute() && !change.maybe && !change.global)),
    ] {
        if !names.is_empty() {
            let comma = if names.len() == 1 { "," } else { "" };
            out += &format!(", {keyword}=({}{comma})", names.join(", "));
        }
    }
    out
}

fn newline_of(text: &str) -> &'static str {
    match text.find(['\n', '\r']) {
        Some(at) if text[at..].starts_with("\r\n") => "\r\n",
        Some(at) if text[at..].starts_with('\r') => "\r",
        _ => "\n",
    }
}
