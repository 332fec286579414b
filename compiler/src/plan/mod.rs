//! What will be done to each loop, and why.

mod compiled;
mod facts;
mod gradients;
mod heads;
mod history;
mod report;
mod select;

pub use heads::{Head, Room, room};
pub use report::{explain, to_json, to_text};

use crate::calls::{CallGraph, Project};
use crate::effects::{
    Aliases, Change, Changeset, Extractor, Instant, Obstacle, Place, Summaries, changeset, inputs, table2,
};
use crate::flow::Flow;
use crate::loops::{Loop, Loops};
use crate::scopes::ScopeId;
use crate::source::{Range, Source};
use crate::syntax::tree::StmtKind;
use crate::syntax::{File, walk};
use std::collections::{BTreeMap, BTreeSet};

/// Which side-effect analysis decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum EffectsMode {
    /// The paper's Table 2, literally.
    Table2,
    /// Data flow, call summaries and library knowledge.
    #[default]
    Flow,
}

/// What is done to a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Its iterations are followed (`generator`, `tick`), its blocks memoized.
    MainLoop,
    /// It is wrapped in a SkipBlock.
    SkipBlock,
    /// Both: a loop of epochs inside a loop of folds, or a training loop without loops inside.
    Both,
    /// It runs inside a memoized loop (its id), and is skipped with it.
    Inside(String),
    /// Nothing is done to it.
    LeftAlone,
}

/// The plan for one loop.
#[derive(Clone, Debug)]
pub struct LoopPlan {
    /// `L1`, `L2`, … in source order, with the file's qualifier before it.
    pub id: String,
    /// What is done.
    pub action: Action,
    /// What skipping it puts back; empty unless it is memoized.
    pub changeset: Changeset,
    /// What jumping to the start of one of its iterations puts back; only of a followed loop that trains, or holds one.
    pub boundary: Option<Changeset>,
    /// Whether gradients belong to that.
    pub boundary_gradients: bool,
    /// It takes training steps itself, outside the loops inside it.
    pub trains: bool,
    /// Whether gradients belong to its checkpoint.
    pub gradients: bool,
    /// Whether what it computes may be differentiated after it.
    pub differentiated: bool,
    /// Why it is left alone, or what should be known about it.
    pub note: Option<Obstacle>,
    /// Where it is.
    pub range: Range,
    /// Its first line, 1-based.
    pub line: usize,
    /// Its last line, 1-based.
    pub end_line: usize,
    /// Its header as written, on one line: `for epoch in range(10)`.
    pub header: String,
    /// The function it is in; empty at module level.
    pub scope: String,
    /// The loop around it in the same function: an index into the file's loops.
    pub parent: Option<usize>,
    /// How deep it is nested in loops of the same function, from 0.
    pub depth: usize,
    /// The number of its statement.
    pub stmt: usize,
    /// The names that its statements bind, sorted: those that are no places hold, after a skip, what they held before.
    pub binds: Vec<String>,
}

impl LoopPlan {
    /// Whether its iterator or condition is wrapped.
    pub fn is_followed(&self) -> bool {
        matches!(self.action, Action::MainLoop | Action::Both)
    }

    /// Whether it is a SkipBlock.
    pub fn is_memoized(&self) -> bool {
        matches!(self.action, Action::SkipBlock | Action::Both)
    }
}

/// The plan for a file.
#[derive(Clone, Debug)]
pub struct Plan {
    /// One entry per loop, in source order.
    pub loops: Vec<LoopPlan>,
    /// The analysis used.
    pub mode: EffectsMode,
    /// What is called to get a value from outside, in source order: `time.time` in `time.time()`.
    pub inputs: Vec<Range>,
    /// The functions that tell that they are entered, in source order; none where a replay is planned.
    pub heads: Vec<Head>,
    /// The number that the first of them tells.
    pub first_head: usize,
}

/// The plans of a recorded project: its loops by the numbers that their statements have today.
pub type Recorded<'p> = BTreeMap<usize, &'p LoopPlan>;

/// How a plan is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The analysis.
    pub mode: EffectsMode,
    /// Whether functions whose callers are known tell that they are entered, too: to find what the call graph lacks.
    pub all_heads: bool,
}

/// Everything known about a project, from which plans, instrumentations and probe reports are made.
pub struct Analysis<'t> {
    /// The files; the script first.
    pub files: &'t [File],
    /// Scopes, classes, imports.
    pub project: Project<'t>,
    /// Who calls whom.
    pub graph: CallGraph,
    /// Which names may share objects.
    pub aliases: Aliases,
    /// What each function changes.
    pub summaries: Summaries,
    /// The loops.
    pub loops: Loops<'t>,
}

impl<'t> Analysis<'t> {
    /// Analyses files whose statements are numbered one after another.
    pub fn new(files: &'t [File]) -> Self {
        let project = Project::new(files);
        let graph = CallGraph::new(&project);
        let aliases = Aliases::new(&project);
        let summaries = Summaries::new(&project, &graph, &aliases);
        let loops = Loops::new(&project.scopes);
        Self { files, project, graph, aliases, summaries, loops }
    }

    /// The control flow of the scopes that hold loops.
    pub fn flows(&self) -> BTreeMap<ScopeId, Flow> {
        let mut flows = BTreeMap::new();
        for entry in &self.loops.list {
            let flow = || Flow::new(&self.project.scopes, entry.scope, self.is_shared(entry.scope));
            flows.entry(entry.scope).or_insert_with(flow);
        }
        flows
    }

    /// Whether another file may read the globals of the module that a scope lies in.
    pub fn is_shared(&self, scope: ScopeId) -> bool {
        self.files[self.project.scopes.list[scope].file].name != File::SCRIPT
    }

    fn file_of(&self, entry: &Loop) -> usize {
        self.project.scopes.list[entry.scope].file
    }

    /// Decides what is done to each loop; one plan per file.
    pub fn plans(&self, options: &Options) -> Vec<Plan> {
        self.make_plans(options, None)
    }

    /// Does to each loop what was done to it when the project was recorded, whatever was added since; loops that are new are
    /// left alone.
    pub fn plans_as(&self, options: &Options, recorded: &Recorded) -> Vec<Plan> {
        self.make_plans(options, Some(recorded))
    }

    fn make_plans(&self, options: &Options, recorded: Option<&Recorded>) -> Vec<Plan> {
        let flows = self.flows();
        let estimates = self.estimates(options.mode, &flows);
        let obstacles: Vec<Option<Obstacle>> = estimates.iter().map(|found| found.as_ref().err().cloned()).collect();
        let facts = facts::Facts::new(self);
        let roles = match recorded {
            Some(recorded) => select::recorded_roles(self, recorded, &obstacles),
            None => select::roles(self, &facts, &obstacles),
        };
        let gradients = gradients::live(self);
        let differentiated = history::differentiated(self, &facts);
        let ids = self.ids();
        let is_wrapped = |role: &select::Role| !matches!(role, select::Role::Inside(_) | select::Role::LeftAlone);
        let wrapped = roles.iter().zip(&self.loops.list).filter(|(role, _)| is_wrapped(&role.action));
        let wrapped = wrapped.map(|(_, entry)| entry.scope).collect();
        let mut plans: Vec<Plan> = inputs(&self.project, self.files, &wrapped)
            .into_iter()
            .map(|inputs| Plan { loops: Vec::new(), mode: options.mode, inputs, heads: Vec::new(), first_head: 0 })
            .collect();
        let loops: Vec<LoopPlan> = roles
            .into_iter()
            .zip(estimates)
            .enumerate()
            .map(|(at, (role, estimate))| {
                let action = match role.action {
                    select::Role::MainLoop => Action::MainLoop,
                    select::Role::SkipBlock => Action::SkipBlock,
                    select::Role::Both => Action::Both,
                    select::Role::Inside(outer) => Action::Inside(ids[outer].clone()),
                    select::Role::LeftAlone => Action::LeftAlone,
                };
                let mut plan = self.describe(at, ids[at].clone(), action);
                plan.gradients = plan.is_memoized() && gradients && facts.loops[at].backward;
                plan.differentiated = plan.is_memoized() && differentiated.contains(&plan.stmt);
                plan.note = role.note;
                if plan.is_memoized() {
                    plan.changeset = estimate.unwrap_or_default();
                }
                let work = facts.loops[at];
                plan.trains = work.trains;
                if plan.is_followed() && (work.trains || work.trains_below) && options.mode == EffectsMode::Flow {
                    plan.boundary = self.boundary(&self.loops.list[at], &flows);
                    // an iteration may go on with the gradients of the one before; a block inside only where they are read
                    let is_flat = !work.loops_below || plan.is_memoized() && work.trains;
                    plan.boundary_gradients = is_flat || gradients && work.backward;
                }
                if let Some(was) = recorded.and_then(|recorded| recorded.get(&plan.stmt)) {
                    plan.trains = was.trains;
                    plan.boundary_gradients = was.boundary_gradients;
                    plan.boundary = plan.boundary.filter(|_| was.boundary.is_some());
                }
                plan
            })
            .collect();
        if recorded.is_none() && options.mode == EffectsMode::Flow {
            let heads = heads::heads(self, &loops, options.all_heads);
            plans.iter_mut().zip(heads).for_each(|(plan, heads)| plan.heads = heads);
        }
        for (plan, entry) in loops.into_iter().zip(&self.loops.list) {
            plans[self.file_of(entry)].loops.push(plan);
        }
        plans
    }

    /// `L1`, `L2`, … in each file, with its qualifier.
    fn ids(&self) -> Vec<String> {
        let mut counts = vec![0; self.files.len()];
        self.loops
            .list
            .iter()
            .map(|entry| {
                let file = self.file_of(entry);
                counts[file] += 1;
                format!("{}L{}", self.files[file].qualifier(), counts[file])
            })
            .collect()
    }

    fn estimates(&self, mode: EffectsMode, flows: &BTreeMap<ScopeId, Flow>) -> Vec<Result<Changeset, Obstacle>> {
        let extractor = Extractor::new(&self.project, &self.aliases, &self.summaries);
        self.loops
            .list
            .iter()
            .map(|entry| {
                ways_out(entry)?;
                match (mode, flows.get(&entry.scope)) {
                    (EffectsMode::Table2, _) => self.table2(entry),
                    (EffectsMode::Flow, Some(flow)) => changeset(&extractor, flow, entry, Instant::LoopEnd),
                    (EffectsMode::Flow, None) => Err(Obstacle { range: entry.stmt.range, why: "no flow".to_owned() }),
                }
            })
            .collect()
    }

    /// What an iteration finds, when it can be put back. However the loop is left, its iterations begin in one way.
    fn boundary(&self, entry: &Loop, flows: &BTreeMap<ScopeId, Flow>) -> Option<Changeset> {
        let first = entry.body().first()?;
        // a body on the line of its header has no room for it
        let has_room = self.files[self.file_of(entry)].source.starts_line(first.range.start);
        let extractor = Extractor::new(&self.project, &self.aliases, &self.summaries);
        changeset(&extractor, flows.get(&entry.scope).filter(|_| has_room)?, entry, Instant::IterationStart).ok()
    }

    fn table2(&self, entry: &Loop) -> Result<Changeset, Obstacle> {
        let entries = table2::changeset(&self.project, entry).map_err(|(rule, range)| {
            let why = match rule {
                table2::Rule::Reassignment => "a variable of the changeset is assigned again",
                _ => "a function is called for its side effects",
            };
            Obstacle { range, why: format!("{rule}: {why}: no estimate") }
        })?;
        let changes = entries
            .into_iter()
            .map(|found| {
                let mut parts = found.name.split('.').map(str::to_owned);
                let root = parts.next().unwrap_or_default();
                let home = self.project.scopes.resolve(entry.scope, &root);
                let bound = !matches!(found.rule, table2::Rule::MethodCall) && home == Some(entry.scope);
                let is_object = found.rule == table2::Rule::MethodCallAssignment;
                Change {
                    place: Place { home, root, attrs: parts.collect() },
                    module: None,
                    mutated: !bound || is_object,
                    bound: bound && !is_object,
                    iterated: false,
                    maybe: false,
                    global: false,
                    bound_before: true,
                    range: found.range,
                    why: found.rule.to_string(),
                    assumed: false,
                }
            })
            .collect();
        Ok(Changeset { changes, writes: true })
    }

    fn describe(&self, at: usize, id: String, action: Action) -> LoopPlan {
        let entry = &self.loops.list[at];
        let range = entry.stmt.range;
        let source = &self.files[self.file_of(entry)].source;
        let first = self.loops.list.iter().position(|other| self.file_of(other) == self.file_of(entry)).unwrap_or(0);
        let mut depth = 0;
        let mut parent = entry.parent;
        while let Some(outer) = parent {
            depth += 1;
            parent = self.loops.list[outer].parent;
        }
        LoopPlan {
            id,
            action,
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
            scope: self.project.scopes.list[entry.scope].qualname.clone(),
            parent: entry.parent.map(|outer| outer - first),
            depth,
            stmt: entry.stmt.id,
            binds: binds(entry),
        }
    }
}

fn binds(entry: &Loop) -> Vec<String> {
    let mut names = BTreeSet::new();
    walk::statements(std::slice::from_ref(entry.stmt), &mut |stmt| {
        crate::scopes::bound_names(stmt, &mut |name| {
            names.insert(name.to_owned());
        });
    });
    names.into_iter().collect()
}

/// A loop that control may leave without arriving at the statement after it cannot be wrapped.
fn ways_out(entry: &Loop) -> Result<(), Obstacle> {
    let out = &entry.ways_out;
    for (place, why) in [
        (out.suspends, "it can be suspended here (yield or await)"),
        (out.returns, "return leaves it here"),
        (out.outer_jump, "a jump to an outer loop leaves it here"),
    ] {
        if let Some(range) = place {
            return Err(Obstacle { range, why: why.to_owned() });
        }
    }
    Ok(())
}

/// `for epoch in range(10)`, on one line.
fn header(source: &Source, entry: &Loop) -> String {
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
