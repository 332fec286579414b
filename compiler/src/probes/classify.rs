//! Whether an added statement only looks.

use crate::effects::{EffectKind, Extractor, Knowledge};
use crate::plan::Analysis;
use crate::scopes::ScopeId;
use crate::syntax::tree::{ExprKind, Stmt, StmtKind};
use crate::syntax::walk;

/// What an added statement does besides looking: it rebinds a name the other version has, or changes an object.
pub(super) fn more_than_a_probe(analysis: &Analysis, other: &Analysis, stmt: &Stmt) -> Option<String> {
    if matches!(stmt.kind, StmtKind::Function(_) | StmtKind::Class(_)) {
        return None;
    }
    let scope = analysis.project.scopes.holder(stmt.id);
    let extractor = Extractor::new(&analysis.project, &analysis.aliases, &analysis.summaries);
    let mut why = None;
    walk::statements(std::slice::from_ref(stmt), &mut |inner| {
        if matches!(inner.kind, StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Raise(_)) {
            let inside_own_loop = matches!(stmt.kind, StmtKind::For(_) | StmtKind::While { .. });
            if !inside_own_loop || matches!(inner.kind, StmtKind::Return(_) | StmtKind::Raise(_)) {
                why.get_or_insert("it changes the flow of control".to_owned());
            }
        }
        if draws(analysis, scope, inner) {
            why.get_or_insert("it draws random numbers: what comes after would draw others".to_owned());
        }
        let mut effects = Vec::new();
        extractor.statement(scope, inner, &mut effects);
        for effect in effects {
            let Some(place) = &effect.place else { continue };
            let is_new = place.home == Some(scope) && !other_binds(analysis, other, scope, &place.root);
            let harmless = match effect.kind {
                EffectKind::Bind => is_new,
                EffectKind::Mutate | EffectKind::Consume => is_new || effect.assumed || looks_only(&effect.why),
                EffectKind::Unbind => is_new,
                _ => true,
            };
            if !harmless {
                why.get_or_insert(effect.why.clone());
            }
        }
    });
    why
}

/// Whether a statement calls a function known to advance a global generator.
fn draws(analysis: &Analysis, scope: ScopeId, stmt: &Stmt) -> bool {
    let mut found = false;
    for expr in walk::own_expressions(stmt) {
        walk::expressions(expr, &mut |part| {
            if let ExprKind::Call(call) = &part.kind {
                let library = analysis.project.library_name(scope, &call.callee);
                let facts = library.and_then(|name| Knowledge::shipped().function(&name));
                found |= facts.is_some_and(|facts| facts.random);
            }
            !found
        });
    }
    found
}

/// Calling a module and clipping by an infinite norm are how people look at activations and gradients.
fn looks_only(why: &str) -> bool {
    why.contains("may change itself") || why.starts_with("torch.nn.utils.clip_grad_norm_")
}

fn other_binds(analysis: &Analysis, other: &Analysis, scope: ScopeId, name: &str) -> bool {
    let here = &analysis.project.scopes.list[scope];
    other.project.scopes.list.iter().any(|known| {
        known.qualname == here.qualname
            && other.files[known.file].name == analysis.files[here.file].name
            && known.bound.contains(name)
    })
}
