//! What skipping each loop would have to put back.

use super::listed::Listed;
use super::model::EffectsMode;
use super::table2::changeset_by_table2;
use crate::analysis::Analysis;
use crate::effects::{Changeset, Instant, Obstacle, Reason, changeset, listed_changeset};
use crate::flow::Flow;
use crate::ids::IdVec;
use crate::loops::{Loop, LoopId};
use crate::scopes::ScopeId;
use std::collections::BTreeMap;

/// The changeset of each loop, or why there is none.
pub(super) fn estimates(
    analysis: &Analysis,
    mode: EffectsMode,
    flows: &BTreeMap<ScopeId, Flow>,
    listed: &Listed,
) -> IdVec<LoopId, Result<Changeset, Obstacle>> {
    let extractor = analysis.extractor();
    let estimate = |(at, entry): (LoopId, &Loop)| {
        ways_out(entry).or_else(|obstacle| match (&obstacle.why, listed.names(at)) {
            // An execution that `return` left has no end, so no checkpoint: it runs again, as one that an exception left does.
            (Reason::Returns, Some(_)) => Ok(()),
            _ => Err(obstacle),
        })?;
        if let (Some(names), Some(flow)) = (listed.names(at), flows.get(&entry.scope)) {
            return Ok(listed_changeset(&extractor, flow, entry, Instant::LoopEnd, names));
        }
        if entry.is_call() && mode == EffectsMode::Table2 {
            return Err(Obstacle { range: entry.stmt.range, why: Reason::NoLoop });
        }
        match (mode, flows.get(&entry.scope)) {
            (EffectsMode::Table2, _) => changeset_by_table2(&analysis.project, entry),
            (EffectsMode::Flow, Some(flow)) => changeset(&extractor, flow, entry, Instant::LoopEnd),
            (EffectsMode::Flow, None) => Err(Obstacle { range: entry.stmt.range, why: Reason::NoFlow }),
        }
    };
    analysis.loops.list.enumerated().map(estimate).collect()
}

/// What an iteration finds, when it can be put back. However the loop is left, its iterations begin in one way.
pub(super) fn boundary(
    analysis: &Analysis,
    entry: &Loop,
    flows: &BTreeMap<ScopeId, Flow>,
    listed: Option<&[String]>,
) -> Option<Changeset> {
    let first = entry.body().first()?;
    // a body on the line of its header has no room for it
    let has_room = analysis.files[analysis.file_of(entry)].source.starts_line(first.range.start);
    let flow = flows.get(&entry.scope).filter(|_| has_room)?;
    let extractor = analysis.extractor();
    match listed {
        Some(names) => Some(listed_changeset(&extractor, flow, entry, Instant::IterationStart, names)),
        None => changeset(&extractor, flow, entry, Instant::IterationStart).ok(),
    }
}

/// A loop that control may leave without arriving at the statement after it cannot be wrapped.
fn ways_out(entry: &Loop) -> Result<(), Obstacle> {
    let out = &entry.ways_out;
    for (place, why) in
        [(out.suspends, Reason::Suspended), (out.returns, Reason::Returns), (out.outer_jump, Reason::OuterJump)]
    {
        if let Some(range) = place {
            return Err(Obstacle { range, why });
        }
    }
    Ok(())
}
