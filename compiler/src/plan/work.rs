//! What loops and functions do, as far as it decides which loops are worth wrapping.

use crate::analysis::Analysis;
use crate::calls::Callee;
use crate::effects::method_facts;
use crate::ids::IdVec;
use crate::knowledge::{Facts as Known, Knowledge, List};
use crate::loops::LoopId;
use crate::name::Name;
use crate::scopes::ScopeId;
use crate::syntax::tree::{Call, Expr, ExprKind, Stmt, StmtKind};
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
    /// Gradients are computed, or cleared, somewhere inside it.
    pub backward: bool,
    /// Which parts of a training step it takes itself.
    own: Parts,
    /// Some loop inside it, or inside a function it calls, takes whole training steps.
    whole_below: bool,
}

/// Parts of training steps, by the methods that are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts {
    /// `step`: that of an optimizer, or of a schedule, or of an environment.
    step: bool,
    /// `backward`.
    gradients: bool,
    /// `fit` and others that do all of it.
    whole: bool,
}

impl Parts {
    fn of(name: &str, trains: bool) -> Self {
        let (step, gradients) = (name == "step", name == "backward");
        Self { step: trains && step, gradients: trains && gradients, whole: trains && !step && !gradients }
    }

    fn is_step(self) -> bool {
        self.whole || self.step && self.gradients
    }

    fn merge(&mut self, other: Self) {
        self.step |= other.step;
        self.gradients |= other.gradients;
        self.whole |= other.whole;
    }
}

impl Work {
    /// Whether it takes training steps itself: not where a loop inside takes them, gradients and all, and its own `step`
    /// can only be that of a schedule.
    pub fn steps_itself(&self) -> bool {
        let schedules = self.whole_below && !self.own.gradients && !self.own.whole;
        self.trains && !schedules
    }
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
        let mut runs = Vec::new();
        for (id, scope) in analysis.project.scopes.list.enumerated() {
            walk::statements(scope.body, &mut |stmt| facts.statement(analysis, id, stmt, &mut runs));
        }
        // Facts only become true; calls may be recursive.
        while facts.round(analysis, &runs) {}
        facts
    }

    fn round(&mut self, analysis: &Analysis, runs: &[Runs]) -> bool {
        let before = (self.loops.clone(), self.scopes.clone());
        for run in runs {
            let work = self.functions(&run.targets);
            self.holder(run.scope, run.around).merge(work);
        }
        for at in self.loops.ids().rev() {
            let inner = self.loops[at];
            let below = Work {
                works: false,
                trains: false,
                loops_below: inner.works || inner.loops_below,
                trains_below: inner.trains || inner.trains_below,
                backward: inner.backward,
                own: Parts::default(),
                whole_below: inner.own.is_step() || inner.whole_below,
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

    /// The facts of a loop, or of the scope that something stands in outside every loop.
    fn holder(&mut self, scope: ScopeId, around: Option<LoopId>) -> &mut Work {
        match around {
            Some(at) => &mut self.loops[at],
            None => &mut self.scopes[scope],
        }
    }

    /// What a statement does itself; the functions that it runs are added to `runs`.
    fn statement(&mut self, analysis: &Analysis, scope: ScopeId, stmt: &Stmt, runs: &mut Vec<Runs>) {
        let mut work = Work::default();
        let around = analysis.loops.around(stmt.id);
        work.works |=
            matches!(&stmt.kind, StmtKind::AugAssign { target, .. } if may_be_array(analysis, scope, target, FUEL));
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                if let ExprKind::Operation(parts) = &part.kind {
                    work.works = work.works || parts.iter().any(|part| may_be_array(analysis, scope, part, FUEL));
                }
                if let ExprKind::Call(call) = &part.kind {
                    let (own, targets) = called(analysis, scope, call);
                    work.merge(own);
                    if !targets.is_empty() {
                        runs.push(Runs { scope, around, targets });
                    }
                }
                true
            });
        }
        self.holder(scope, around).merge(work);
    }

    /// What a call does.
    pub fn call(&self, analysis: &Analysis, scope: ScopeId, call: &Call) -> Work {
        let (mut work, targets) = called(analysis, scope, call);
        if !targets.is_empty() {
            work.merge(self.functions(&targets));
        }
        work
    }

    fn functions(&self, targets: &[ScopeId]) -> Work {
        let mut work = Work { works: true, ..Work::default() };
        targets.iter().for_each(|&target| work.merge(self.scopes[target]));
        work
    }
}

/// Functions that something runs which stands in a loop, or in a scope outside every loop.
struct Runs {
    scope: ScopeId,
    around: Option<LoopId>,
    targets: Vec<ScopeId>,
}

/// So many names are followed from one to the next.
const FUEL: usize = 4;

/// Whether an expression may yield an array, so that an operator on it is work: what comes from a call that may do work (no builtin
/// function makes arrays), and parts of that. Of names that are given values elsewhere (parameters) only parts may: most of the names themselves are numbers.
fn may_be_array(analysis: &Analysis, scope: ScopeId, expr: &Expr, fuel: usize) -> bool {
    let Some(fuel) = fuel.checked_sub(1) else { return false };
    let any = |parts: &[Expr]| parts.iter().any(|part| may_be_array(analysis, scope, part, fuel));
    match &expr.kind {
        ExprKind::Call(call) => {
            let is_builtin =
                matches!(analysis.project.callee(scope, call), Callee::Library(name) if !name.as_str().contains('.'));
            !is_builtin && called(analysis, scope, call).0.works
        }
        ExprKind::Name(_) | ExprKind::Attribute { .. } => analysis
            .project
            .values_of(scope, expr)
            .is_some_and(|values| values.iter().any(|value| may_be_array(analysis, scope, value, fuel))),
        ExprKind::Subscript { value, .. } => match analysis.project.values_of(scope, value) {
            Some(values) => values.iter().any(|value| may_be_array(analysis, scope, value, fuel)),
            None => matches!(value.kind, ExprKind::Name(_)) || may_be_array(analysis, scope, value, fuel),
        },
        ExprKind::Operation(parts) | ExprKind::Choice(parts) => any(parts),
        _ => false,
    }
}

/// What a call does whatever the functions do that it runs, and these.
fn called(analysis: &Analysis, scope: ScopeId, call: &Call) -> (Work, Vec<ScopeId>) {
    let known = Knowledge::shipped();
    let works = |cheap: bool| Work { works: !cheap, ..Work::default() };
    match analysis.project.callee(scope, call) {
        Callee::Library(name) => (works(known.function_named(name).is_some_and(|facts| facts.cheap)), Vec::new()),
        Callee::Method { name, receiver } => {
            (method(name, method_facts(&analysis.project, scope, call, receiver, name)), Vec::new())
        }
        Callee::Methods { targets, name, sure, .. } => {
            let mut work = works(false);
            if !sure {
                work.merge(method(name, known.method(None, &name)));
            }
            (work, targets)
        }
        Callee::Functions(targets) => (works(false), targets),
        Callee::Class(init) => (works(false), init.into_iter().collect()),
        Callee::Object { target, .. } => (works(false), target.into_iter().collect()),
        Callee::Variable(_) => (works(false), Vec::new()),
    }
}

fn method(name: Name, known: Option<Known>) -> Work {
    let cheap = known.is_some_and(|known| known.cheap);
    let trains = Knowledge::shipped().lists(List::Trains, &name);
    let own = Parts::of(&name, trains);
    Work { works: !cheap, trains, backward: name == "backward" || name == "zero_grad", own, ..Work::default() }
}

impl Work {
    fn merge(&mut self, other: Work) {
        self.works |= other.works;
        self.trains |= other.trains;
        self.loops_below |= other.loops_below;
        self.trains_below |= other.trains_below;
        self.backward |= other.backward;
        self.own.merge(other.own);
        self.whole_below |= other.whole_below;
    }
}
