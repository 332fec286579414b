//! Adding, splitting, moving and wrapping statements.

use super::{apply, each_suite, indentation, is_docstring, parse, stands_alone};
use florc::Source;
use florc::ids::Id as _;
use florc::source::Range;
use florc::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use florc::syntax::walk;
use std::collections::BTreeSet;

/// Puts a statement without effect before every statement that has a line for itself.
pub fn add_dead_code(source: &Source) -> Option<String> {
    let module = parse(source);
    let mut edits = Vec::new();
    each_suite(&module, &mut |suite| {
        for stmt in suite.iter().filter(|stmt| !is_docstring(stmt) && !is_future(stmt)) {
            // Decorators stand before what the tree calls the statement.
            let decorated = match &stmt.kind {
                StmtKind::Function(function) => !function.decorators.is_empty(),
                StmtKind::Class(class) => !class.decorators.is_empty(),
                _ => false,
            };
            // `elif` is a statement of its own in the tree, not in the text.
            let is_elif = source.text[stmt.range.start..].starts_with("elif");
            if let Some(indent) = indentation(&source.text, stmt).filter(|_| !decorated && !is_elif) {
                let at = Range::new(stmt.range.start, stmt.range.start);
                edits.push((at, format!("dead_value = 1 if True else 2\n{indent}")));
            }
        }
    });
    (!edits.is_empty()).then(|| apply(&source.text, edits))
}

fn is_future(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Import(imports) if imports.iter().any(|import| import.is_future))
}

/// `y = f(g(x))` becomes `part_1 = g(x)` and `y = f(part_1)`, where `f` is a dotted name and `g(x)` is evaluated first.
pub fn split_expressions(source: &Source) -> Option<String> {
    let module = parse(source);
    let mut edits = Vec::new();
    each_suite(&module, &mut |suite| {
        for stmt in suite.iter().filter(|stmt| stands_alone(&source.text, stmt)) {
            let value = match &stmt.kind {
                StmtKind::Assign { value, targets } if targets.len() == 1 => value,
                StmtKind::Expr(value) => value,
                _ => continue,
            };
            let ExprKind::Call(call) = &value.kind else { continue };
            let Some(first) = call.args.first() else { continue };
            let is_computed = matches!(first.kind, ExprKind::Call(_) | ExprKind::Operation(_)) && is_plain(first);
            let (true, true, Some(indent)) = (is_dotted(&call.callee), is_computed, indentation(&source.text, stmt))
            else {
                continue;
            };
            let name = format!("part_{}", stmt.id.place());
            let text = format!("{name} = ({})\n{indent}", source.slice(first.range));
            edits.push((Range::new(stmt.range.start, stmt.range.start), text));
            edits.push((first.range, name));
        }
    });
    (!edits.is_empty()).then(|| apply(&source.text, edits))
}

/// Swaps neighbours that assign constants and names to different names.
pub fn reorder(source: &Source) -> Option<String> {
    let module = parse(source);
    let mut edits = Vec::new();
    each_suite(&module, &mut |suite| {
        let mut rest = suite;
        while let [first, second, ..] = rest {
            let swap =
                independent(first, second) && stands_alone(&source.text, first) && stands_alone(&source.text, second);
            if swap {
                edits.push((first.range, source.slice(second.range).to_owned()));
                edits.push((second.range, source.slice(first.range).to_owned()));
            }
            rest = &rest[if swap { 2 } else { 1 }..];
        }
    });
    (!edits.is_empty()).then(|| apply(&source.text, edits))
}

fn independent(first: &Stmt, second: &Stmt) -> bool {
    let (Some(one), Some(two)) = (assigned(first), assigned(second)) else { return false };
    one.0.is_disjoint(&two.0) && one.0.is_disjoint(&two.1) && two.0.is_disjoint(&one.1)
}

/// The names that an assignment binds and reads, when it does nothing else.
fn assigned(stmt: &Stmt) -> Option<(BTreeSet<&str>, BTreeSet<&str>)> {
    let StmtKind::Assign { targets, value } = &stmt.kind else { return None };
    let mut bound = BTreeSet::new();
    for target in targets {
        match &target.kind {
            ExprKind::Name(name) => bound.insert(name.as_str()),
            _ => return None,
        };
    }
    let mut read = BTreeSet::new();
    let mut simple = true;
    walk::expressions(value, &mut |part| {
        match &part.kind {
            ExprKind::Name(name) => {
                read.insert(name.as_str());
            }
            ExprKind::Constant(_) | ExprKind::Display { .. } | ExprKind::Operation(_) => {}
            _ => simple = false,
        }
        true
    });
    simple.then_some((bound, read))
}

/// Puts the whole module into a function, and calls it. Not where `global` is declared, a name is starred in, or a string
/// goes over several lines.
pub fn wrap_in_function(source: &Source) -> Option<String> {
    let module = parse(source);
    let mut possible = !source.text.contains("import *") && !source.text.contains("\\\n");
    walk::all_statements(&module, &mut |stmt| {
        possible &= !matches!(stmt.kind, StmtKind::Global(_)) && !is_future(stmt);
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                let is_text = matches!(part.kind, ExprKind::Constant(_));
                possible &= !(is_text && source.slice(part.range).contains('\n') && !is_docstring(stmt));
                true
            });
        }
    });
    if !possible || source.text.contains('\r') || source.text.contains('\t') {
        return None;
    }
    let body: String = source.text.lines().map(|line| format!("    {line}\n")).collect();
    Some(format!("def wrapping_function():\n{body}\n\nwrapping_function()\n"))
}

fn is_dotted(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) => true,
        ExprKind::Attribute { value, .. } => is_dotted(value),
        _ => false,
    }
}

/// Whether an expression binds nothing and is not evaluated later or piece by piece.
fn is_plain(expr: &Expr) -> bool {
    let mut plain = true;
    walk::expressions(expr, &mut |part| {
        plain &= !matches!(
            part.kind,
            ExprKind::Named { .. }
                | ExprKind::Lambda { .. }
                | ExprKind::Comprehension { .. }
                | ExprKind::Yield(_)
                | ExprKind::Await(_)
        );
        plain
    });
    plain
}
