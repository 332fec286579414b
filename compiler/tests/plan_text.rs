//! The text of a plan, which every recorded run holds: it does not change, and says all that the plan says.

use florc::effects::Change;
use florc::plan::{Action, LoopPlan, Plan, schema};
use florc::{EffectsMode, Options, Source, cli, plan_only};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn python_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            python_files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            out.push(path);
        }
    }
}

/// Every file of `testdata/` that is Python, with its plan by both analyses.
fn plans() -> Vec<(Source, Plan)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let mut paths = Vec::new();
    python_files(&root, &mut paths);
    let mut found = Vec::new();
    for path in paths {
        let Ok(source) = cli::read_source(&path) else { continue };
        for mode in [EffectsMode::Flow, EffectsMode::Table2] {
            let plan = plan_only(&source, &Options { mode, ..Options::default() });
            found.extend(plan.ok().map(|plan| (source.clone(), plan)));
        }
    }
    found
}

#[test]
fn the_text_is_what_it_was_and_says_all() {
    let plans = plans();
    assert!(plans.len() > 200, "{} plans", plans.len());
    for (source, plan) in plans {
        let typed = schema::Plan::new(&source, &plan);
        let text = typed.to_json();
        assert_eq!(text, written_out(&source, &plan).to_string(), "{}", source.name);
        assert_eq!(schema::Plan::from_json(&text).ok(), Some(typed), "{}", source.name);
    }
}

/// The text as it was first written, key by key.
fn written_out(source: &Source, plan: &Plan) -> Value {
    let loops: Vec<Value> = plan.loops.iter().map(|entry| loop_json(source, plan, entry)).collect();
    let heads = (plan.first_head..).zip(&plan.heads).filter(|(_, head)| !head.is_check);
    let functions =
        heads.map(|(number, head)| json!({ "number": number, "function": head.function, "line": head.line }));
    json!({
        "file": source.name,
        "effects": match plan.mode { EffectsMode::Table2 => "table2", EffectsMode::Flow => "flow" },
        "loops": loops,
        "functions": functions.collect::<Vec<Value>>(),
    })
}

fn places_json(source: &Source, changes: &[Change]) -> Vec<Value> {
    changes
        .iter()
        .map(|change| {
            json!({
                "place": change.name(),
                "mutated": change.mutated,
                "bound": change.bound,
                "iterated": change.iterated,
                "by_name": change.by_name(),
                "global": change.global,
                "line": source.lines.line(change.range.start),
                "why": change.why.to_string(),
                "assumed": change.assumed,
            })
        })
        .collect()
}

fn loop_json(source: &Source, plan: &Plan, entry: &LoopPlan) -> Value {
    json!({
        "id": entry.id,
        "action": match &entry.action {
            Action::MainLoop => "main loop",
            Action::SkipBlock => "memoized",
            Action::Both => "main loop, memoized",
            Action::Inside(_) => "skipped with",
            Action::Reserve(_) => "in reserve",
            Action::LeftAlone => "left alone",
        },
        "inside": match &entry.action { Action::Inside(outer) | Action::Reserve(outer) => Some(outer), _ => None },
        "parent": entry.parent.map(|at| plan.loops[at].id.clone()),
        "line": entry.line,
        "end_line": entry.end_line,
        "header": entry.header,
        "function": entry.scope,
        "followed": entry.is_followed(),
        "memoized": entry.is_memoized(),
        "gradients": entry.gradients,
        "differentiated": entry.differentiated,
        "places": places_json(source, &entry.changeset.changes),
        "writes": entry.changeset.writes,
        "trains": entry.trains,
        "boundary": entry.boundary.as_ref().map(|found| json!({
            "gradients": entry.boundary_gradients,
            "places": places_json(source, &found.changes),
            "writes": found.writes,
        })),
        "binds": entry.binds,
        "note": entry.note.as_ref().map(|note| json!({
            "line": source.lines.line(note.range.start),
            "why": note.why.to_string(),
        })),
    })
}
