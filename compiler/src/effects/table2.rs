//! The paper's Table 2, exactly: six rules, at most one per statement, in descending precedence.
//!
//! Source: Garcia et al., "Hindsight Logging for Model Training", PVLDB 14(4), 2021, Section 3.3.1.

use crate::loops::Loop;
use crate::project::Project;
use crate::scopes::bound_names;
use crate::source::Range;
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use std::fmt;

/// A row of Table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Rule 0: `v1, …, vn = u1, …, um` where some `vi` is in the changeset: no estimate.
    Reassignment,
    /// Rule 1: `v1, …, vn = obj.method(…)`: `obj` and every `vi`.
    MethodCallAssignment,
    /// Rule 2: `v1, …, vn = func(…)`: every `vi`.
    FunctionCallAssignment,
    /// Rule 3: `v1, …, vn = u1, …, um`: every `vi`.
    Assignment,
    /// Rule 4: `obj.method(…)`: `obj`.
    MethodCall,
    /// Rule 5: `func(…)`: no estimate.
    FunctionCall,
}

impl Rule {
    /// The rule's number in the paper.
    pub fn number(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}", self.number())
    }
}

/// One entry of the changeset with the rule that added it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The variable, or the object's place.
    pub name: String,
    /// The rule.
    pub rule: Rule,
    /// The statement.
    pub range: Range,
}

/// The changeset of a loop by Table 2.
///
/// # Errors
/// The rule and the statement that made the estimate impossible: rule 0 or rule 5.
pub fn changeset(project: &Project, entry: &Loop) -> Result<Vec<Entry>, (Rule, Range)> {
    let mut changes: Vec<Entry> = Vec::new();
    let mut failed = None;
    walk::statements(entry.body(), &mut |stmt| {
        if failed.is_some() {
            return;
        }
        if let Some((rule, names)) = activate(stmt, &changes) {
            match rule {
                Rule::Reassignment | Rule::FunctionCall => failed = Some((rule, stmt.range)),
                _ => add(&mut changes, names, rule, stmt.range),
            }
        }
    });
    if let Some(failed) = failed {
        return Err(failed);
    }
    changes.retain(|change| !loop_scoped(project, entry, &change.name));
    Ok(changes)
}

fn add(changes: &mut Vec<Entry>, names: Vec<String>, rule: Rule, range: Range) {
    for name in names {
        if !changes.iter().any(|known| known.name == name) {
            changes.push(Entry { name, rule, range });
        }
    }
}

/// The one rule that a statement activates, and the names it adds.
fn activate(stmt: &Stmt, changes: &[Entry]) -> Option<(Rule, Vec<String>)> {
    let (targets, value): (Vec<&Expr>, &Expr) = match &stmt.kind {
        StmtKind::Assign { targets, value } => (targets.iter().collect(), value),
        StmtKind::AugAssign { target, value } => (vec![target], value),
        StmtKind::AnnAssign { target, value: Some(value), .. } => (vec![target], value),
        StmtKind::Expr(value) => return bare_call(value),
        _ => return None,
    };
    let mut names = Vec::new();
    targets.into_iter().for_each(|target| assigned(target, &mut names));
    if names.iter().any(|name| changes.iter().any(|known| known.name == *name)) {
        return Some((Rule::Reassignment, Vec::new()));
    }
    Some(match called(value) {
        Some(Called::Method(object)) => {
            names.splice(0..0, object);
            (Rule::MethodCallAssignment, names)
        }
        Some(Called::Function) => (Rule::FunctionCallAssignment, names),
        None => (Rule::Assignment, names),
    })
}

fn bare_call(value: &Expr) -> Option<(Rule, Vec<String>)> {
    Some(match called(value)? {
        Called::Method(object) => (Rule::MethodCall, object.into_iter().collect()),
        Called::Function => (Rule::FunctionCall, Vec::new()),
    })
}

enum Called {
    Method(Option<String>),
    Function,
}

fn called(value: &Expr) -> Option<Called> {
    let ExprKind::Call(call) = &value.kind else { return None };
    Some(match &call.callee.kind {
        ExprKind::Attribute { value, .. } => Called::Method(object_name(value)),
        _ => Called::Function,
    })
}

/// The place of an object: `self.optimizer` of `self.optimizer.step()`; of a longer expression, the object it starts from.
fn object_name(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name.to_string()),
        ExprKind::Attribute { value, attr } => match &value.kind {
            ExprKind::Name(_) | ExprKind::Attribute { .. } => object_name(value).map(|base| format!("{base}.{attr}")),
            _ => object_name(value),
        },
        ExprKind::Subscript { value, .. } => object_name(value),
        ExprKind::Call(call) => match &call.callee.kind {
            ExprKind::Attribute { value, .. } => object_name(value),
            _ => None,
        },
        _ => None,
    }
}

fn assigned(target: &Expr, names: &mut Vec<String>) {
    match &target.kind {
        ExprKind::Display { items, .. } => items.iter().for_each(|item| assigned(item, names)),
        ExprKind::Starred(inner) => assigned(inner, names),
        _ => names.extend(object_name(target)),
    }
}

/// "any variable that is defined in the body of the loop": bound there, and not before it.
fn loop_scoped(project: &Project, entry: &Loop, name: &str) -> bool {
    let root = name.split('.').next().unwrap_or(name);
    let (mut inside, mut before) = (false, false);
    let scope = &project.scopes.list[entry.scope];
    before |= scope.params().any(|param| param == root);
    walk::statements(scope.body, &mut |stmt| {
        bound_names(stmt, &mut |bound| {
            if bound == root {
                let in_loop = entry.stmt.range.contains(stmt.range);
                inside |= in_loop;
                before |= !in_loop && stmt.range.start < entry.stmt.range.start;
            }
        });
    });
    inside && !before
}
