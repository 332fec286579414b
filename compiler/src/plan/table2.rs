//! The paper's Table 2 as changesets.

use crate::effects::{Change, Changeset, Obstacle, Place, table2};
use crate::loops::Loop;
use crate::project::Project;

/// The changeset of a loop by Table 2.
pub(super) fn changeset_by_table2(project: &Project, entry: &Loop) -> Result<Changeset, Obstacle> {
    let entries = table2::changeset(project, entry).map_err(|(rule, range)| {
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
            let home = project.scopes.resolve(entry.scope, &root);
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
