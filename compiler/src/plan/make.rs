//! From all that is known to what is done.

use super::autograd::differentiated;
use super::conditions::Conditions;
use super::describe::describe;
use super::estimates::{boundary, estimates};
use super::gradients::{hidden, live};
use super::heads::heads;
use super::listed::Listed;
use super::model::{EffectsMode, LoopPlan, Options, Plan, Recorded};
use super::roles::{Role, recorded_roles, roles};
use super::work::Facts;
use crate::analysis::Analysis;
use crate::effects::{Obstacle, inputs};
use crate::ids::{FileId, IdVec};
use crate::loops::LoopId;

impl Analysis<'_> {
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
        let listed = Listed::new(self, options);
        let estimates = estimates(self, options.mode, &flows, &listed);
        let obstacles: IdVec<LoopId, Option<Obstacle>> =
            estimates.iter().map(|found| found.as_ref().err().cloned()).collect();
        let facts = Facts::new(self);
        let conditions = Conditions::new(self);
        let roles = match recorded {
            Some(recorded) => recorded_roles(self, recorded, &obstacles),
            None if listed.is_library() => listed.roles(&obstacles),
            None => roles(self, &facts, &obstacles),
        };
        let hidden = hidden(self);
        let gradients = hidden || live(self);
        let differentiated = differentiated(self, &facts);
        let ids = self.loops.names(&self.project.scopes, self.files);
        let is_wrapped = |role: &Role| !matches!(role, Role::Inside(_) | Role::LeftAlone);
        let wrapped = roles.iter().zip(&self.loops.list).filter(|(role, _)| is_wrapped(&role.action));
        let wrapped = wrapped.map(|(_, entry)| entry.scope).collect();
        let mut plans: IdVec<FileId, Plan> = inputs(&self.project, self.files, &wrapped)
            .into_iter()
            .map(|inputs| Plan { loops: Vec::new(), mode: options.mode, inputs, heads: Vec::new(), first_head: 0 })
            .collect();
        let loops: Vec<LoopPlan> = roles
            .into_iter()
            .zip(estimates)
            .zip(self.loops.list.ids())
            .map(|((role, estimate), at)| {
                let mut plan = describe(self, at, &ids, role.action);
                plan.gradients = plan.is_memoized() && gradients && (hidden || facts.loops[at].backward);
                plan.differentiated = plan.is_memoized() && differentiated.contains(&plan.stmt);
                plan.note = role.note;
                if plan.is_memoized() {
                    plan.changeset = estimate.unwrap_or_default();
                }
                let work = facts.loops[at];
                plan.trains = work.trains && !self.loops.list[at].is_call();
                let trains = if listed.is_library() { listed.has_starts(at) } else { work.trains || work.trains_below };
                let is_asked = !listed.is_library() && conditions.run_own_code(self.loops.list[at].stmt);
                if plan.is_followed() && trains && !is_asked && options.mode == EffectsMode::Flow {
                    plan.boundary = boundary(self, &self.loops.list[at], &flows, listed.names(at));
                    // an iteration may go on with the gradients of the one before; a block inside only where they are read
                    let is_flat = !work.loops_below || plan.is_memoized() && work.steps_itself();
                    plan.boundary_gradients = is_flat || gradients && (hidden || work.backward);
                }
                if let Some(was) = recorded.and_then(|recorded| recorded.get(&plan.stmt)) {
                    plan.trains = was.trains;
                    plan.boundary_gradients = was.boundary_gradients;
                    plan.boundary = plan.boundary.filter(|_| was.boundary.is_some());
                }
                plan
            })
            .collect();
        if recorded.is_none() && options.mode == EffectsMode::Flow && !listed.is_library() {
            let heads = heads(self, &loops, options.all_heads);
            plans.iter_mut().zip(heads).for_each(|(plan, heads)| plan.heads = heads);
        }
        for (plan, entry) in loops.into_iter().zip(&self.loops.list) {
            plans[self.file_of(entry)].loops.push(plan);
        }
        plans.into_iter().collect()
    }
}
