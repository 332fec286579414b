//! Calls of functions of Python that take a value from outside: standard input, temporary names. No two runs get the same, so what
//! the recorded run got is kept and given back to a replay. Functions of C (clocks, entropy) are looked at where they are, however
//! they are called (`florc/inputs/sources.py`).

use std::collections::BTreeSet;

use crate::ids::{FileId, IdVec};
use crate::knowledge::{Knowledge, List};
use crate::project::{Project, dotted};
use crate::scopes::ScopeId;
use crate::source::{Range, Source};
use crate::syntax::walk;
use crate::syntax::{
    File,
    tree::{Expr, ExprKind, StmtKind},
};

/// What is called, by file: the range of `tempfile.mkdtemp` in `tempfile.mkdtemp()`. Which function it is in the end is seen when it is called.
/// `sys.stdin` in `for line in sys.stdin` is one, too.
///
/// What is reached through another name (`new = tempfile.mkdtemp`) is not found.
///
/// `wrapped`: scopes with loops that florc wraps. Elsewhere `hash` may be called in what `torch.compile` compiles, which knows `hash`.
pub fn inputs(project: &Project, files: &[File], wrapped: &BTreeSet<ScopeId>) -> IdVec<FileId, Vec<Range>> {
    let mut found = IdVec::all(Vec::new(), &project.scopes.modules);
    for (id, scope) in project.scopes.list.enumerated() {
        walk::statements(scope.body, &mut |stmt| {
            let source = &files[scope.file].source;
            let mut take = |range: Option<Range>| found[scope.file].extend(range);
            if let StmtKind::For(node) = &stmt.kind
                && !node.is_async
            {
                take(lines(project, id, &node.iter, source));
            }
            for expr in walk::own_expressions(stmt) {
                walk::expressions(expr, &mut |part| {
                    match &part.kind {
                        ExprKind::Call(call) => {
                            if let ExprKind::Attribute { attr, .. } = &call.callee.kind
                                && Knowledge::shipped().lists(List::TakesFromOutside, attr)
                            {
                                take(method(&call.callee, attr, source));
                            } else if let Some(name) = project.library_name(id, &call.callee)
                                && (name != "builtins.hash" || wrapped.contains(&id))
                                && let Some(facts) = Knowledge::shipped().function_named(name)
                                && facts.input
                            {
                                take(as_it_stands(&call.callee, source));
                            }
                        }
                        ExprKind::Comprehension { clauses, .. } => {
                            for clause in clauses.iter().filter(|clause| !clause.is_async) {
                                take(lines(project, id, &clause.iter, source));
                            }
                        }
                        _ => {}
                    }
                    true
                });
            }
        });
    }
    found.iter_mut().for_each(|ranges| ranges.sort_by_key(|range| range.start));
    found
}

fn lines(project: &Project, scope: ScopeId, iter: &Expr, source: &Source) -> Option<Range> {
    let name = project.library_name(scope, iter)?;
    if Knowledge::shipped().lists(List::ReadsOutside, &name) { as_it_stands(iter, source) } else { None }
}

/// The range of a method with what it is taken from, if it holds that.
fn method(callee: &Expr, attr: &str, source: &Source) -> Option<Range> {
    let Range { start, end, .. } = callee.range;
    let (before, text, after) = (source.text.get(..start)?, source.text.get(start..end)?, source.text.get(end..)?);
    let is_part = |c: char| c == '_' || c == '.' || c.is_alphanumeric();
    let count = |brackets: [char; 3]| text.matches(brackets).count();
    let is_whole =
        !before.ends_with(is_part) && !text.contains(['"', '\'']) && count(['(', '[', '{']) == count([')', ']', '}']);
    (is_whole && text.strip_suffix(attr)?.trim_end().ends_with('.') && after.starts_with('(')).then_some(callee.range)
}

/// The range of a dotted name, if it holds that; the parser may be off inside a string with replacement fields.
fn as_it_stands(name: &Expr, source: &Source) -> Option<Range> {
    (source.text.get(name.range.start..name.range.end)? == dotted(name)?.as_str()).then_some(name.range)
}
