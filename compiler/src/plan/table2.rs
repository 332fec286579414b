//! The paper's Table 2 as changesets.

use crate::effects::{Change, Changeset, Obstacle, Place, Reason, table2};
use crate::loops::Loop;
use crate::name::Name;
use crate::project::Project;

/// The changeset of a loop by Table 2.
pub(super) fn changeset_by_table2(project: &Project, entry: &Loop) -> Result<Changeset, Obstacle> {
    let entries =
        table2::changeset(project, entry).map_err(|(rule, range)| Obstacle { range, why: Reason::NoEstimate(rule) })?;
    let changes = entries
        .into_iter()
        .map(|found| {
            let mut parts = found.name.split('.').map(Name::new);
            let root = parts.next().unwrap_or(Name::NONE);
            let home = project.scopes.resolve(entry.scope, root);
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
                why: Reason::ByRule(found.rule),
                assumed: false,
            }
        })
        .collect();
    Ok(Changeset { changes, writes: true })
}
