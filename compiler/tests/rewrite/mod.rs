//! Source transforms that keep what a program does: each returns the new text, or `None` where it finds nothing to do.

mod names;
mod statements;

pub use names::rename_variables;
pub use statements::{add_dead_code, reorder, split_expressions, wrap_in_function};

use florc::Source;
use florc::source::Range;
use florc::syntax::tree::{Module, Stmt, StmtKind};
use florc::syntax::walk;

/// The tree of a text that is known to be Python.
pub fn parse(source: &Source) -> Module {
    florc::syntax::parse(source).unwrap_or_else(|error| panic!("{}", error.render(source))).0
}

/// Replaces ranges, which do not overlap, by texts.
fn apply(text: &str, mut edits: Vec<(Range, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::new();
    let mut at = 0;
    for (range, new) in edits {
        out.push_str(&text[at..range.start]);
        out.push_str(&new);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// What stands before a statement on its line, when that is nothing but spaces.
fn indentation<'t>(text: &'t str, stmt: &Stmt) -> Option<&'t str> {
    let begin = text[..stmt.range.start].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[begin..stmt.range.start];
    before.bytes().all(|byte| byte == b' ').then_some(before)
}

/// Whether a statement has its line, or lines, for itself.
fn stands_alone(text: &str, stmt: &Stmt) -> bool {
    let rest = text[stmt.range.end..].split('\n').next().unwrap_or("").trim();
    indentation(text, stmt).is_some() && (rest.is_empty() || rest.starts_with('#'))
}

fn is_docstring(stmt: &Stmt) -> bool {
    use florc::syntax::tree::{ExprKind, Literal};
    matches!(&stmt.kind, StmtKind::Expr(value) if matches!(value.kind, ExprKind::Constant(Literal::Str(_))))
}

/// Every suite of the file, those of functions and classes included.
fn each_suite<'t>(module: &'t Module, visit: &mut dyn FnMut(&'t [Stmt])) {
    visit(&module.body);
    walk::all_statements(module, &mut |stmt| {
        match &stmt.kind {
            StmtKind::Function(function) => visit(&function.body),
            StmtKind::Class(class) => visit(&class.body),
            _ => {}
        }
        walk::suites(stmt).for_each(&mut *visit);
    });
}
