//! A loop as a plan names it.

use super::model::{Action, LoopPlan};
use super::roles::Role;
use crate::analysis::Analysis;
use crate::effects::Changeset;
use crate::ids::{Id, IdVec};
use crate::loops::{Loop, LoopId};
use crate::name::Name;
use crate::scopes::bound_names;
use crate::source::{Range, Source};
use crate::syntax::tree::StmtKind;
use crate::syntax::walk;
use std::collections::BTreeSet;

/// What a loop is called and where it is; that it is skipped or followed, and with what, is still to be said.
pub(super) fn describe(analysis: &Analysis, at: LoopId, ids: &IdVec<LoopId, String>, role: Role) -> LoopPlan {
    let list = &analysis.loops.list;
    let entry = &list[at];
    let range = entry.stmt.range;
    let source = &analysis.files[analysis.file_of(entry)].source;
    // They stand file by file.
    let file = analysis.file_of(entry);
    let before = (0..at.place()).rev().take_while(|&other| analysis.file_of(&list[LoopId::new(other)]) == file);
    let first = before.last().unwrap_or(at.place());
    LoopPlan {
        id: ids[at].clone(),
        action: match role {
            Role::MainLoop => Action::MainLoop,
            Role::SkipBlock => Action::SkipBlock,
            Role::Both => Action::Both,
            Role::Inside(outer) => Action::Inside(ids[outer].clone()),
            Role::Reserve(outer) => Action::Reserve(ids[outer].clone()),
            Role::LeftAlone => Action::LeftAlone,
        },
        changeset: Changeset::default(),
        boundary: None,
        boundary_gradients: false,
        trains: false,
        gradients: false,
        differentiated: false,
        note: None,
        range,
        line: source.lines.line(range.start),
        end_line: source.lines.line(range.end),
        header: header(source, entry),
        scope: analysis.project.scopes.list[entry.scope].qualname.to_string(),
        parent: entry.parent.map(|outer| outer.place() - first),
        depth: analysis.loops.and_around(at).count() - 1,
        stmt: entry.stmt.id,
        binds: binds(entry),
    }
}

fn binds(entry: &Loop) -> Vec<String> {
    let mut names = BTreeSet::new();
    walk::statements(std::slice::from_ref(entry.stmt), &mut |stmt| {
        bound_names(stmt, &mut |name| {
            names.insert(name);
        });
    });
    names.into_iter().map(|name: Name| name.to_string()).collect()
}

/// `for epoch in range(10)`, on one line.
pub(super) fn header(source: &Source, entry: &Loop) -> String {
    let end = match &entry.stmt.kind {
        StmtKind::For(node) => node.iter.range.end,
        StmtKind::While { test, .. } => test.range.end,
        _ => entry.stmt.range.end,
    };
    // Grouping parentheses are not part of an expression's range.
    let closing = source.text[end..].chars().take_while(|c| c.is_whitespace() || *c == ')').collect::<String>();
    let end = end + closing.rfind(')').map_or(0, |at| at + 1);
    let text = source.slice(Range::new(entry.stmt.range.start, end));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
