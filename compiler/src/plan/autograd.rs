//! What a loop computes and is differentiated after it: `loss += step(x)` in a loop, `loss.backward()` behind it.
//!
//! A checkpoint holds no autograd history, so such a loop has to run again. Whether its results have a history (a rollout
//! under `no_grad` has none) is seen when the block ends.

use super::work::Facts;
use crate::analysis::Analysis;
use crate::ids::{IdVec, StmtId};
use crate::scopes::ScopeId;
use crate::syntax::tree::{ExprKind, Stmt};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// The numbers of the loop statements that compute no gradients themselves, while something behind them does before
/// their function ends or after it was called.
pub(super) fn differentiated(analysis: &Analysis, facts: &Facts) -> BTreeSet<StmtId> {
    let is_any = facts.loops.iter().chain(&facts.scopes).any(|work| work.backward);
    if !is_any {
        return BTreeSet::new();
    }
    let mut history = History {
        analysis,
        facts,
        behind: IdVec::all(false, &analysis.project.scopes.list),
        before_gradients: BTreeSet::new(),
        computing: IdVec::default(),
    };
    loop {
        let known = history.behind.clone();
        for (id, scope) in analysis.project.scopes.list.enumerated() {
            history.suite(id, scope.body, known[id]);
        }
        if history.behind == known {
            break;
        }
    }
    let loops = analysis.loops.list.enumerated();
    let trains = loops.filter(|&(at, _)| facts.loops[at].backward).map(|(_, entry)| entry.stmt.id).collect();
    history.before_gradients.difference(&trains).copied().collect()
}

struct History<'a, 't> {
    analysis: &'a Analysis<'t>,
    facts: &'a Facts,
    /// By scope: whether gradients are computed behind some call of it.
    behind: IdVec<ScopeId, bool>,
    /// Statements behind which gradients are computed.
    before_gradients: BTreeSet<StmtId>,
    /// Statements that were asked already: whether they compute gradients themselves.
    computing: IdVec<StmtId, Option<bool>>,
}

impl History<'_, '_> {
    /// Goes backwards through a suite; says whether something in it computes gradients.
    fn suite(&mut self, scope: ScopeId, suite: &[Stmt], mut behind: bool) -> bool {
        let mut any = false;
        for stmt in suite.iter().rev() {
            let known = *self.computing.or_insert_with(stmt.id, || None);
            let mut computes = known.unwrap_or_else(|| self.computes(scope, stmt));
            self.computing[stmt.id] = Some(computes);
            if behind {
                self.before_gradients.insert(stmt.id);
            }
            if behind || computes {
                let sites = self.analysis.graph.sites_of(stmt.id);
                sites.flat_map(|site| &site.targets).for_each(|&target| self.behind[target] = true);
            }
            for inner in walk::suites(stmt) {
                computes |= self.suite(scope, inner, behind);
            }
            behind |= computes;
            any |= computes;
        }
        any
    }

    /// Whether a statement itself computes gradients, or calls a function that does.
    fn computes(&self, scope: ScopeId, stmt: &Stmt) -> bool {
        let mut found = false;
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                if let ExprKind::Call(call) = &part.kind {
                    found |= self.facts.call(self.analysis, scope, call).backward;
                }
                !found
            });
        }
        found
    }
}
