//! What loops and functions do, as far as it decides which loops are worth wrapping.

use crate::analysis::Analysis;
use crate::calls::Callee;
use crate::effects::method_facts;
use crate::ids::IdVec;
use crate::knowledge::{Facts as Known, Knowledge, List};
use crate::loops::LoopId;
use crate::scopes::ScopeId;
use crate::syntax::tree::{Call, ExprKind, Stmt};
use crate::syntax::walk;

/// Facts about one loop or one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// It does real work itself, outside the loops inside it.
    pub works: bool,
    /// It takes a training step itself, outside the loops inside it.
    pub trains: bool,
    /// Some loop inside it, or inside a function it calls, does real work.
    pub loops_below: bool,
    /// Some loop inside it, or inside a function it calls, takes training steps.
    pub trains_below: bool,
    /// Gradients are computed somewhere inside it.
    pub backward: bool,
}

/// Facts about every loop and function of a file.
pub(super) struct Facts {
    pub loops: IdVec<LoopId, Work>,
    pub scopes: IdVec<ScopeId, Work>,
}

impl Facts {
    pub fn new(analysis: &Analysis) -> Self {
        let mut facts = Facts {
            loops: IdVec::all(Work::default(), &analysis.loops.list),
            scopes: IdVec::all(Work::default(), &analysis.project.scopes.list),
        };
        // Facts only become true; calls may be recursive.
        while facts.round(analysis) {}
        facts
    }

    fn round(&mut self, analysis: &Analysis) -> bool {
        let before = (self.loops.clone(), self.scopes.clone());
        for (id, scope) in analysis.project.scopes.list.enumerated() {
            walk::statements(scope.body, &mut |stmt| self.statement(analysis, id, stmt));
        }
        for at in self.loops.ids().rev() {
            let inner = self.loops[at];
            let below = Work {
                works: false,
                trains: false,
                loops_below: inner.works || inner.loops_below,
                trains_below: inner.trains || inner.trains_below,
                backward: inner.backward,
            };
            let entry = &analysis.loops.list[at];
            let outer = match entry.parent {
                Some(parent) => &mut self.loops[parent],
                None => &mut self.scopes[entry.scope],
            };
            outer.merge(below);
        }
        before != (self.loops.clone(), self.scopes.clone())
    }

    fn statement(&mut self, analysis: &Analysis, scope: ScopeId, stmt: &Stmt) {
        let mut work = Work::default();
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                if let ExprKind::Call(call) = &part.kind {
                    work.merge(self.call(analysis, scope, call));
                }
                true
            });
        }
        match analysis.loops.around(stmt.id) {
            Some(at) => self.loops[at].merge(work),
            None => self.scopes[scope].merge(work),
        }
    }

    /// What a call does.
    pub fn call(&self, analysis: &Analysis, scope: ScopeId, call: &Call) -> Work {
        let known = Knowledge::shipped();
        let works = |cheap: bool| Work { works: !cheap, ..Work::default() };
        match analysis.project.callee(scope, call) {
            Callee::Library(name) => works(known.function(&name).is_some_and(|facts| facts.cheap)),
            Callee::Method { name, receiver } => {
                self.method(name, method_facts(&analysis.project, scope, call, receiver, name))
            }
            Callee::Methods { targets, name, sure, .. } => {
                let mut work = self.functions(&targets);
                if !sure {
                    work.merge(self.method(name, known.method(None, name)));
                }
                work
            }
            Callee::Functions(targets) => self.functions(&targets),
            Callee::Class(init) => self.functions(&init.into_iter().collect::<Vec<_>>()),
            Callee::Object { target, .. } => {
                let mut work = self.functions(&target.into_iter().collect::<Vec<_>>());
                work.works = true;
                work
            }
            Callee::Variable(_) => works(false),
        }
    }

    fn method(&self, name: &str, known: Option<Known>) -> Work {
        let cheap = known.is_some_and(|known| known.cheap);
        let trains = Knowledge::shipped().lists(List::Trains, name);
        Work { works: !cheap, trains, backward: name == "backward", ..Work::default() }
    }

    fn functions(&self, targets: &[ScopeId]) -> Work {
        let mut work = Work { works: true, ..Work::default() };
        targets.iter().for_each(|&target| work.merge(self.scopes[target]));
        work
    }
}

impl Work {
    fn merge(&mut self, other: Work) {
        self.works |= other.works;
        self.trains |= other.trains;
        self.loops_below |= other.loops_below;
        self.trains_below |= other.trains_below;
        self.backward |= other.backward;
    }
}
