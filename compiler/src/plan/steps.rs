//! Which loops take training steps, and which only schedule them.

use crate::calls::CallGraph;
use crate::ids::IdVec;
use crate::knowledge::{Knowledge, List};
use crate::loops::{LoopId, Loops};
use crate::project::Project;
use crate::scopes::ScopeId;
use crate::syntax::File;
use crate::syntax::tree::{ExprKind, Stmt};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// By which names loops train, outside those loops inside them that train, too.
pub struct Steps<'t> {
    project: Project<'t>,
    graph: CallGraph,
    loops: Loops<'t>,
    names: IdVec<LoopId, String>,
}

impl<'t> Steps<'t> {
    /// Of a project.
    pub fn new(files: &'t [File]) -> Self {
        let project = Project::new(files);
        let graph = CallGraph::new(&project);
        let loops = Loops::new(&project.scopes);
        let names = loops.names(&project.scopes, files);
        Self { project, graph, loops, names }
    }

    /// Whether all that a loop does itself is `scheduler.step()`, as far as is seen: one of the loops `inside` it takes the steps.
    /// `trains`: the followed loops that train.
    pub fn only_schedules(&self, outer: &str, inside: &BTreeSet<String>, trains: &BTreeSet<String>) -> bool {
        // Gradients alone are no step yet, and a `step` without gradients may be that of an environment.
        let is_part =
            |names: &BTreeSet<&str>| names.len() == 1 && (names.contains("backward") || names.contains("step"));
        self.trains_by(outer, trains) == BTreeSet::from(["step"])
            && inside.iter().any(|inner| !is_part(&self.trains_by(inner, trains)))
    }

    fn trains_by(&self, name: &str, trains: &BTreeSet<String>) -> BTreeSet<&'t str> {
        let ids = self.names.enumerated();
        let apart: BTreeSet<LoopId> = ids.filter(|(_, name)| trains.contains(*name)).map(|(at, _)| at).collect();
        let own = apart.iter().find(|&&at| self.names[at] == name).map(|&at| &self.loops.list[at]);
        let mut search = Search { steps: self, apart, found: BTreeSet::new(), met: BTreeSet::new() };
        if let Some(own) = own {
            search.own(own.stmt);
            walk::suites(own.stmt).for_each(|suite| search.suite(suite));
        }
        search.found
    }
}

struct Search<'s, 't> {
    steps: &'s Steps<'t>,
    apart: BTreeSet<LoopId>,
    found: BTreeSet<&'t str>,
    met: BTreeSet<ScopeId>,
}

impl<'t> Search<'_, 't> {
    fn suite(&mut self, suite: &'t [Stmt]) {
        for stmt in suite {
            if self.steps.loops.of(stmt.id).is_none_or(|at| !self.apart.contains(&at)) {
                self.own(stmt);
                walk::suites(stmt).for_each(|inner| self.suite(inner));
            }
        }
    }

    /// What a statement calls itself.
    fn own(&mut self, stmt: &'t Stmt) {
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                if let ExprKind::Call(call) = &part.kind
                    && let ExprKind::Attribute { attr, .. } = &call.callee.kind
                {
                    self.found.extend(Knowledge::shipped().lists(List::Trains, attr).then_some(attr.as_str()));
                }
                true
            });
        }
        let targets = self.steps.graph.sites_of(stmt.id).flat_map(|site| &site.targets);
        for &target in targets {
            if self.met.insert(target) {
                self.suite(self.steps.project.scopes.list[target].body);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Steps;
    use crate::source::Source;
    use crate::syntax::File;
    use std::collections::BTreeSet;

    /// Whether L1 only schedules the steps that L2 in it takes.
    fn schedules(text: &str) -> bool {
        let files = [File::script(Source::new("f.py", text), "").unwrap()];
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
        Steps::new(&files).only_schedules("L1", &set(&["L2"]), &set(&["L1", "L2"]))
    }

    const TEXT: &str = "
def learn(x):
    loss(x).backward()
    optimizer.step()
class Plan:
    def advance(self):
        self.scheduler.step()
for e in range(3):
    for x in data: learn(x)
    scheduler.step()
";

    #[test]
    fn a_scheduler_takes_no_training_steps() {
        assert!(schedules(TEXT));
        assert!(schedules(&TEXT.replace("    scheduler.step()\n", "    plan.advance()\n")));
        assert!(schedules(&TEXT.replace("    scheduler.step()\n", "    for s in schedulers: s.step()\n")));
        assert!(schedules(&TEXT.replace("learn(x)\n", "model.partial_fit(x)\n")));
    }

    #[test]
    fn a_loop_that_also_computes_gradients_takes_steps() {
        assert!(!schedules(&TEXT.replace("    scheduler.step()\n", "    learn(e)\n")));
        // gradients are collected inside, and the step follows
        assert!(!schedules(&TEXT.replace("learn(x)\n", "loss(x).backward()\n")));
        // an environment's step
        assert!(!schedules(&TEXT.replace("learn(x)\n", "env.step(x)\n")));
        assert!(!schedules(&TEXT.replace("    scheduler.step()\n", "    print(e)\n")));
    }
}
