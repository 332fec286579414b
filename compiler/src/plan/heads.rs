//! Which functions tell, when they begin, that they were entered: those that something may run that florc cannot see.
//!
//! What a function of known callers is run by is read off the call graph. Of all others a recorded run notes which blocks
//! entered them.

use super::compiled::compiled;
use super::model::{Head, LoopPlan};
use crate::analysis::Analysis;
use crate::ids::{FileId, IdVec, StmtId};
use crate::knowledge::{Knowledge, List};
use crate::name::Name;
use crate::scopes::{Owner, ScopeId};
use crate::source::Source;
use crate::syntax::tree::{ExprKind, Function, Literal, Stmt, StmtKind};
use crate::syntax::walk;
use rustc_hash::FxHashMap;

/// Special methods that do more than a few operations, as a rule.
const SPECIAL: &[&str] = &[
    "__call__",
    "__enter__",
    "__exit__",
    "__getitem__",
    "__init__",
    "__iter__",
    "__new__",
    "__next__",
    "__post_init__",
    "__setitem__",
    "__setstate__",
    "__init_subclass__",
    "__set_name__",
];

/// The functions of each file that tell that they are entered. `all`: also those whose callers are known, to see whether
/// these are all; `loops`: what is done to each loop.
pub(super) fn heads(analysis: &Analysis, loops: &[LoopPlan], all: bool) -> IdVec<FileId, Vec<Head>> {
    let mut found = IdVec::all(Vec::new(), &analysis.project.scopes.modules);
    if !loops.iter().any(|entry| entry.is_memoized() || entry.is_followed()) {
        return found;
    }
    let scopes = &analysis.project.scopes;
    let statements: FxHashMap<ScopeId, StmtId> =
        scopes.of_statement.iter().map(|(&stmt, &scope)| (scope, stmt)).collect();
    let starts = starts(analysis);
    let compiled = compiled(analysis, loops);
    let by_name = are_run_by_name(analysis);
    for (id, scope) in scopes.list.enumerated() {
        let (Owner::Function(function), Some(&stmt)) = (scope.owner, statements.get(&id)) else { continue };
        let is_check = !tells(analysis, id, function, by_name);
        if scope.suspends || compiled.contains(&id) || is_check && (!all || is_special(&function.name)) {
            continue;
        }
        let source = &analysis.files[scope.file].source;
        if room(source, function).is_none() {
            continue;
        }
        let line = source.lines.line(starts[&stmt]);
        found[scope.file].push(Head { stmt, function: scope.qualname.to_string(), line, is_check });
    }
    found.iter_mut().for_each(|heads| heads.sort_by_key(|head| head.stmt));
    found
}

/// Where a function can tell that it is entered.
#[derive(Clone, Copy, Debug)]
pub enum Room {
    /// Before a simple statement, on its line.
    Before(usize),
    /// Before a compound statement, on a line of its own: where its line begins, and where it does, or the `@` before it.
    #[allow(missing_docs)]
    Above { line: usize, at: usize },
    /// After its docstring, which is all that it holds.
    After(usize),
}

/// Where the first statement of a function that is no docstring begins. None where there is no telling: a decorator that does not
/// begin its line, something else after a docstring that is alone.
pub fn room(source: &Source, function: &Function) -> Option<Room> {
    let is_text = |stmt: &&Stmt| matches!(&stmt.kind, StmtKind::Expr(value) if matches!(value.kind, ExprKind::Constant(Literal::Str(_))));
    let docstring = function.body.first().filter(is_text);
    let Some(first) = function.body.get(usize::from(docstring.is_some())) else {
        let end = docstring?.range.end;
        let rest = source.text[end..].trim_start_matches([' ', '\t']);
        return (rest.is_empty() || rest.starts_with(['\n', '\r', '#'])).then_some(Room::After(end));
    };
    let start = first.range.start;
    let mark = match &first.kind {
        StmtKind::Function(function) if !function.decorators.is_empty() => "@",
        StmtKind::Class(class) if !class.decorators.is_empty() => "@",
        StmtKind::Function(_) | StmtKind::Class(_) => "",
        _ if walk::suites(first).next().is_none() => return Some(Room::Before(start)),
        _ => "",
    };
    let line = source.lines.start_of(source.lines.line(start));
    let before = &source.text[line..start];
    let goes_on = source.text[..line].trim_end_matches(['\n', '\r']).ends_with('\\');
    let at = line + before.len() - before.trim_start().len();
    (before.trim() == mark && !goes_on).then_some(Room::Above { line, at })
}

/// Where each `def` begins.
fn starts(analysis: &Analysis) -> FxHashMap<StmtId, usize> {
    let mut found = FxHashMap::default();
    for file in analysis.files {
        walk::all_statements(&file.module, &mut |stmt| {
            if matches!(stmt.kind, StmtKind::Function(_)) {
                found.insert(stmt.id, stmt.range.start);
            }
        });
    }
    found
}

fn tells(analysis: &Analysis, id: ScopeId, function: &Function, by_name: bool) -> bool {
    let scopes = &analysis.project.scopes;
    let is_method = scopes.class_of(id).is_some();
    let is_nested = !is_method && scopes.list[id].parent.is_some_and(|parent| !scopes.is_module(parent));
    let is_property = analysis.project.is_property(function.name) && !function.decorators.is_empty();
    if is_special(&function.name) && !SPECIAL.contains(&function.name.as_str()) {
        return false;
    }
    if is_nested || is_property || function.name.starts_with("__") {
        // the smallest of these run as often as anything does, and a tick would be a part of what they take
        return !is_tiny(function);
    }
    // an object may be given to a library, which calls its methods: no graph has these calls
    is_method || by_name || is_open(analysis, id, function)
}

/// Whether something may run a function that is no call of it by its name.
fn is_open(analysis: &Analysis, id: ScopeId, function: &Function) -> bool {
    let mut callers = analysis.graph.sites_that_call(id).peekable();
    analysis.graph.mentioned.contains(&id)
        || !function.decorators.is_empty()
        || callers.peek().is_none()
        || callers.any(|site| site.deferred)
}

fn is_special(name: &str) -> bool {
    name.len() > 4 && name.starts_with("__") && name.ends_with("__")
}

/// Whether a function does no more than a few operations: it calls nothing and holds no loop.
fn is_tiny(function: &Function) -> bool {
    let mut found = true;
    walk::statements(&function.body, &mut |stmt| {
        found &= !matches!(stmt.kind, StmtKind::For(_) | StmtKind::While { .. } | StmtKind::With { .. });
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                found &= !matches!(part.kind, ExprKind::Call(_) | ExprKind::Comprehension { .. });
                found
            });
        }
    });
    found
}

/// Whether any function of the project may be run by a name that is computed or stands elsewhere.
fn are_run_by_name(analysis: &Analysis) -> bool {
    let project = &analysis.project;
    let first = |dotted: &Name| Knowledge::shipped().lists(List::RunsByName, dotted.split('.').next().unwrap_or(""));
    if project.index.imports.values().any(first) || project.scopes.list.iter().any(|scope| scope.dynamic.is_some()) {
        return true;
    }
    let mut found = false;
    analysis.each_expression(&mut |_, part| {
        found |= match &part.kind {
            ExprKind::Name(name) => matches!(name.as_str(), "__import__" | "globals" | "eval" | "exec"),
            ExprKind::Attribute { attr, .. } => matches!(attr.as_str(), "__dict__" | "modules"),
            ExprKind::Call(call) => {
                let by = matches!(&call.callee.kind, ExprKind::Name(name) if name == "getattr");
                by && call.args.get(1).is_none_or(|name| !matches!(name.kind, ExprKind::Constant(_)))
            }
            _ => false,
        };
    });
    found
}
