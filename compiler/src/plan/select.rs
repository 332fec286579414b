//! Which loops are followed, which are memoized, which are left alone.
//!
//! A loop at the top that holds loops with work in them is followed, iteration by iteration. Below it, the loops that
//! take training steps themselves, or hold no loop that does, are memoized; a loop in between (epochs inside folds) is
//! both. Loops inside a memoized loop are skipped with it and cost nothing. Called functions count as if their loops
//! stood at the call.

use super::Analysis;
use super::facts::Facts;
use crate::effects::Obstacle;
use crate::scopes::{MODULE, Owner, ScopeId};
use crate::syntax::tree::{ExprKind, Function};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    MainLoop,
    SkipBlock,
    Both,
    Inside(usize),
    LeftAlone,
}

#[derive(Clone, Debug)]
pub(super) struct Decision {
    pub action: Role,
    pub note: Option<Obstacle>,
}

/// Where code runs: outside every loop, inside followed loops only, or inside a memoized one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Context {
    Top,
    Followed,
    /// Inside this memoized loop; `None` when florc cannot see who calls the code.
    Memoized(Option<usize>),
}

pub(super) fn roles(analysis: &Analysis, facts: &Facts, obstacles: &[Option<Obstacle>]) -> Vec<Decision> {
    let mut selection = Selection { analysis, facts, obstacles, contexts: initial_contexts(analysis, facts) };
    // A context only moves up (towards `Top`) as callers are found; there are three, so this ends.
    while selection.round() {}
    let contexts: Vec<Context> =
        selection.contexts.iter().map(|context| context.unwrap_or(Context::Memoized(None))).collect();
    selection.contexts = contexts.into_iter().map(Some).collect();
    selection.decisions()
}

struct Selection<'a, 't> {
    analysis: &'a Analysis<'t>,
    facts: &'a Facts,
    obstacles: &'a [Option<Obstacle>],
    contexts: Vec<Option<Context>>,
}

impl Selection<'_, '_> {
    fn round(&mut self) -> bool {
        let decisions = self.decisions();
        let mut changed = false;
        for site in &self.analysis.graph.sites {
            let Some(from) = self.context_of_site(site.scope, site.stmt, &decisions) else { continue };
            for &target in &site.targets {
                if is_compiled(self.analysis, target) || is_hidden(self.analysis, target) {
                    continue;
                }
                let slot = &mut self.contexts[target];
                let moves_up = slot.is_none_or(|known| rank(from) < rank(known));
                if moves_up {
                    *slot = Some(from);
                    changed = true;
                }
            }
        }
        changed
    }

    fn context_of_site(&self, scope: ScopeId, stmt: usize, decisions: &[Decision]) -> Option<Context> {
        let innermost = self.analysis.loops.around_number(scope, stmt);
        let Some(at) = innermost else { return self.contexts[scope] };
        Some(match decisions[at].action {
            Role::SkipBlock => Context::Memoized(Some(at)),
            Role::Inside(outer) => Context::Memoized(Some(outer)),
            // A loop that both trains and is followed has no memoized loop inside it.
            Role::Both if self.facts.loops[at].trains => Context::Memoized(Some(at)),
            Role::MainLoop | Role::Both | Role::LeftAlone => match self.contexts[scope]? {
                Context::Memoized(outer) => Context::Memoized(outer),
                _ => Context::Followed,
            },
        })
    }

    fn decisions(&self) -> Vec<Decision> {
        let mut decisions: Vec<Decision> = Vec::new();
        for (at, entry) in self.analysis.loops.list.iter().enumerate() {
            let context = match entry.parent {
                None => self.contexts[entry.scope].unwrap_or(Context::Memoized(None)),
                Some(parent) => match decisions[parent].action {
                    Role::SkipBlock => Context::Memoized(Some(parent)),
                    Role::Inside(outer) => Context::Memoized(Some(outer)),
                    Role::Both if self.facts.loops[parent].trains => Context::Memoized(Some(parent)),
                    Role::LeftAlone => match self.contexts[entry.scope] {
                        Some(Context::Memoized(outer)) => Context::Memoized(outer),
                        None => Context::Memoized(None),
                        _ => Context::Followed,
                    },
                    Role::MainLoop | Role::Both => Context::Followed,
                },
            };
            decisions.push(self.decide(at, context));
        }
        decisions
    }

    fn decide(&self, at: usize, context: Context) -> Decision {
        let entry = &self.analysis.loops.list[at];
        let work = self.facts.loops[at];
        let obstacle = self.obstacles[at].clone();
        let alone = |why: &str| Decision {
            action: Role::LeftAlone,
            note: Some(Obstacle { range: entry.stmt.range, why: why.to_owned() }),
        };
        if entry.ways_out.suspends.is_some() {
            return Decision { action: Role::LeftAlone, note: obstacle };
        }
        match context {
            Context::Memoized(Some(outer)) => Decision { action: Role::Inside(outer), note: None },
            Context::Memoized(None) => alone("it runs inside calls that florc does not follow"),
            _ if !work.works && !work.loops_below => alone("it holds nothing worth skipping"),
            Context::Top if work.loops_below => Decision { action: Role::MainLoop, note: None },
            _ => {
                let followed = if context == Context::Top { work.trains } else { work.trains_below && !work.trains };
                match (obstacle, followed) {
                    (None, true) => Decision { action: Role::Both, note: None },
                    (None, false) => Decision { action: Role::SkipBlock, note: None },
                    (note, true) => Decision { action: Role::MainLoop, note },
                    (note, false) => Decision { action: Role::LeftAlone, note },
                }
            }
        }
    }
}

fn rank(context: Context) -> u8 {
    match context {
        Context::Top => 0,
        Context::Followed => 1,
        Context::Memoized(_) => 2,
    }
}

fn initial_contexts(analysis: &Analysis, facts: &Facts) -> Vec<Option<Context>> {
    let scopes = &analysis.project.scopes.list;
    let mut called = vec![false; scopes.len()];
    analysis.graph.sites.iter().flat_map(|site| &site.targets).for_each(|&target| called[target] = true);
    (0..scopes.len())
        .map(|id| {
            if id == MODULE {
                return Some(Context::Top);
            }
            if !matches!(scopes[id].owner, Owner::Function(_)) {
                return Some(Context::Memoized(None));
            }
            if called[id] && !is_hidden(analysis, id) {
                return None;
            }
            let trains = facts.scopes[id].trains_below;
            let mentioned = analysis.graph.mentioned.contains(&id);
            let hidden = is_compiled(analysis, id) || is_hidden(analysis, id) || (mentioned && !trains);
            // Nobody in this file calls it: another file does, and may do so in a loop.
            Some(if hidden { Context::Memoized(None) } else { Context::Followed })
        })
        .collect()
}

/// Methods that Python or PyTorch calls on its own, once per item or per call of an object: their loops run as often as
/// a batch has parts.
fn is_hidden(analysis: &Analysis, id: ScopeId) -> bool {
    let Owner::Function(Function { name, .. }) = analysis.project.scopes.list[id].owner else { return false };
    let is_special = name.starts_with("__") && name.ends_with("__") && name != "__init__";
    is_special || matches!(name.as_str(), "forward" | "collate_fn" | "closure" | "training_step")
}

/// Functions handed to a compiler (`torch.compile`, `torch.jit.script`, `numba.jit`): calls inside them must stay as they are.
fn is_compiled(analysis: &Analysis, id: ScopeId) -> bool {
    let Owner::Function(function) = analysis.project.scopes.list[id].owner else { return false };
    function.decorators.iter().any(|decorator| {
        let callee = match &decorator.kind {
            ExprKind::Call(call) => &call.callee,
            _ => decorator,
        };
        let name = match &callee.kind {
            ExprKind::Name(name) => name.as_str(),
            ExprKind::Attribute { attr, .. } => attr.as_str(),
            _ => "",
        };
        matches!(name, "compile" | "script" | "jit" | "njit" | "trace" | "kernel" | "vectorize" | "guvectorize")
    })
}
