//! Whether an added statement only looks.

use super::apart::{Apart, More};
use crate::analysis::Analysis;
use crate::effects::{Effect, EffectKind, Reason};
use crate::flow::Flow;
use crate::ids::StmtId;
use crate::knowledge::Knowledge;
use crate::name::Name;
use crate::scopes::ScopeId;
use crate::syntax::tree::{ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::{BTreeMap, BTreeSet};

/// What a statement of one version that the other lacks does besides looking: it gives a name another value for statements
/// of both versions, or changes an object. `apart`: all statements of this version that the other lacks; `flows`: the flow of
/// scopes as all others see them, kept from one of these statements to the next.
pub(super) fn more_than_a_probe(
    analysis: &Analysis,
    other: &Analysis,
    stmt: &Stmt,
    apart: &BTreeSet<StmtId>,
    flows: &mut BTreeMap<ScopeId, Flow>,
) -> Option<More> {
    if matches!(stmt.kind, StmtKind::Function(_) | StmtKind::Class(_)) {
        return None;
    }
    let scope = analysis.project.scopes.holder(stmt.id);
    let made = || Flow::unread_by(&analysis.project.scopes, scope, analysis.is_shared(scope), apart);
    let flow = flows.entry(scope).or_insert_with(made);
    let extractor = analysis.extractor();
    let mut found: Option<More> = None;
    let mut note = |why: Apart, can_be_seen: bool| {
        let more = found.get_or_insert(More { why, can_be_seen });
        more.can_be_seen &= can_be_seen;
    };
    walk::statements(std::slice::from_ref(stmt), &mut |inner| {
        if matches!(inner.kind, StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Raise(_)) {
            let inside_own_loop = matches!(stmt.kind, StmtKind::For(_) | StmtKind::While { .. });
            if !inside_own_loop || matches!(inner.kind, StmtKind::Return(_) | StmtKind::Raise(_)) {
                note(Apart::Control, false);
            }
        }
        if draws(analysis, scope, inner) {
            note(Apart::Draws, true);
        }
        let mut effects = Vec::new();
        extractor.statement(scope, inner, &mut effects);
        for effect in effects {
            let Some(place) = &effect.place else { continue };
            let is_new = place.home == Some(scope) && !other_binds(analysis, other, scope, place.root);
            let harmless = match effect.kind {
                EffectKind::Bind => is_new || is_dead(flow, scope, stmt, &effect),
                EffectKind::Mutate | EffectKind::Consume => is_new || effect.assumed || looks_only(&effect.why),
                EffectKind::Unbind => is_new,
                _ => true,
            };
            if !harmless {
                note(Apart::Changes(effect.why), effect.kind == EffectKind::Mutate);
            }
        }
    });
    found
}

/// Whether no statement of both versions reads the value that a name is given.
fn is_dead(flow: &Flow, scope: ScopeId, stmt: &Stmt, effect: &Effect) -> bool {
    effect
        .place
        .as_ref()
        .is_some_and(|place| place.home == Some(scope) && place.attrs.is_empty() && !flow.live_past(stmt, place.root))
}

/// Whether a statement calls a function known to advance a global generator.
fn draws(analysis: &Analysis, scope: ScopeId, stmt: &Stmt) -> bool {
    let mut found = false;
    for expr in walk::own_expressions(stmt) {
        walk::expressions(expr, &mut |part| {
            if let ExprKind::Call(call) = &part.kind {
                let library = analysis.project.library_name(scope, &call.callee);
                let facts = library.and_then(|name| Knowledge::shipped().function_named(name));
                found |= facts.is_some_and(|facts| facts.random);
            }
            !found
        });
    }
    found
}

/// Calling a module and clipping by an infinite norm are how people look at activations and gradients.
fn looks_only(why: &Reason) -> bool {
    matches!(why.innermost(), Reason::CallsItself(_))
        || matches!(why, Reason::Call { name, .. } if *name == "torch.nn.utils.clip_grad_norm_")
}

fn other_binds(analysis: &Analysis, other: &Analysis, scope: ScopeId, name: Name) -> bool {
    let here = &analysis.project.scopes.list[scope];
    other.project.scopes.list.iter().any(|known| {
        known.qualname == here.qualname
            && other.files[known.file].name == analysis.files[here.file].name
            && known.bound.contains_key(&name)
    })
}
