//! Plan to text edits, text edits to text and source map. Only insertions: no byte of the user's code is changed.

mod check;
mod edits;
mod lambdas;
mod marks;
mod rewritten;
mod room;
mod runtime;
mod wrap;

pub use edits::{Edit, Emitted, undo};
pub use lambdas::registers_hook;
pub use rewritten::rewritten;
pub use runtime::NAMES as RUNTIME_NAMES;

use crate::ids::StmtId;
use crate::plan::Plan;
use crate::source::{Range, Source};
use crate::syntax::tree::{Stmt, StmtKind};
use crate::syntax::{File, Module, Tokens, walk};
use std::collections::BTreeSet;

/// A statement added in hindsight, to be marked so that what it prints is known to be its own.
#[derive(Clone, Debug)]
pub struct ProbeMark {
    /// `P1`, `P2`, …
    pub id: String,
    /// The number of the statement; for an added function, each statement of its body is marked instead.
    pub stmt: StmtId,
}

/// Writes a plan into a file.
///
/// # Errors
/// Why the file must be left as it is: indentation of a kind that a further step breaks (tabs and blanks mixed, split by
/// backslashes), or a tree that the insertions would change.
pub fn emit_checked(file: &File, plan: &Plan, probes: &[ProbeMark]) -> Result<Emitted, &'static str> {
    let emitted = emit(&file.source, &file.module, &file.tokens, plan, probes);
    if emitted.edits.is_empty() {
        return Ok(emitted);
    }
    match check::why_not(&file.source, &file.module, &emitted) {
        None => Ok(emitted),
        Some(why) => Err(why),
    }
}

/// A file with nothing written into it.
pub fn untouched(source: &Source) -> Emitted {
    Emitted::new(source, Vec::new())
}

/// Writes a plan into a file.
pub fn emit(source: &Source, module: &Module, tokens: &Tokens, plan: &Plan, probes: &[ProbeMark]) -> Emitted {
    if is_instrumented(module) {
        return Emitted::new(source, Vec::new());
    }
    let alias = runtime::free_alias(&source.text);
    let mut writer = wrap::Writer::new(source, tokens, &alias);
    let mut statements: Vec<&Stmt> = Vec::new();
    walk::all_statements(module, &mut |stmt| statements.push(stmt));
    // In source order: what is around comes first.
    let mut heads = (plan.first_head..).zip(&plan.heads).peekable();
    let blocks: BTreeSet<StmtId> =
        plan.loops.iter().filter(|entry| entry.is_memoized()).map(|entry| entry.stmt).collect();
    for entry in &plan.loops {
        while let Some((number, head)) = heads.next_if(|(_, head)| head.stmt < entry.stmt) {
            writer.tell_entered(&statements, head.stmt, number, &blocks);
        }
        let found = statements.binary_search_by_key(&entry.stmt, |stmt| stmt.id);
        if let Ok(at) = found {
            writer.wrap_loop(statements[at], entry, &statements);
        }
    }
    for (number, head) in heads {
        writer.tell_entered(&statements, head.stmt, number, &blocks);
    }
    for probe in probes {
        if let Ok(at) = statements.binary_search_by_key(&probe.stmt, |stmt| stmt.id) {
            let stmt = statements[at];
            let is_marked = |other: &Stmt| probes.iter().any(|probe| probe.stmt == other.id);
            writer.wrap_probe(stmt, &probe.id, &statements, is_marked);
            for inner in statements[at..].iter().take_while(|inner| stmt.range.contains(inner.range)) {
                lambdas::called_later(inner, tokens, &mut |part, is_handed| {
                    writer.wrap_later(part, &probe.id, is_handed)
                });
            }
        }
    }
    for callee in plan.inputs.iter().filter(|callee| !tokens.is_spelled(callee.start)) {
        writer.observe(*callee);
    }
    if !writer.is_empty() {
        writer.import(import_offset(source, module, tokens));
    }
    Emitted::new(source, writer.finish())
}

/// Whether this text is florc's own work: nothing is written twice.
fn is_instrumented(module: &Module) -> bool {
    module.body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Import(names) => {
            names.iter().any(|name| name.dotted == "florc" && name.local.starts_with(runtime::ALIAS))
        }
        _ => false,
    })
}

/// Where the import goes: after the docstring and `from __future__` imports, before everything else.
fn import_offset(source: &Source, module: &Module, tokens: &Tokens) -> usize {
    use crate::syntax::tree::{ExprKind, Literal};
    let mut at = None;
    for (index, stmt) in module.body.iter().enumerate() {
        let is_docstring = index == 0
            && matches!(&stmt.kind, StmtKind::Expr(value) if matches!(value.kind, ExprKind::Constant(Literal::Str(_))));
        let is_future = matches!(&stmt.kind, StmtKind::Import(names) if names.iter().any(|name| name.is_future));
        if !is_docstring && !is_future {
            break;
        }
        at = Some(stmt.range);
    }
    match at {
        Some(Range { end, .. }) => tokens.logical_line_end(end, source.text.len()),
        None => module.body.first().map_or(0, |first| source.lines.start_of(source.lines.line(first.range.start))),
    }
}
