//! Transforms that keep what a program does change neither its plan nor its changesets, names aside.

mod rewrite;

use florc::plan::{Action, LoopPlan};
use florc::{EffectsMode, Options, Plan, Source, plan_only};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One line per loop: what is done to it, and its changeset as a set.
fn essence(plan: &Plan) -> Vec<String> {
    plan.loops.iter().map(|entry| format!("{} {} {}", entry.id, action(entry), changes(entry))).collect()
}

fn action(entry: &LoopPlan) -> String {
    match &entry.action {
        Action::Inside(outer) => format!("inside {outer}"),
        other => format!("{other:?}"),
    }
}

fn changes(entry: &LoopPlan) -> String {
    let found: BTreeSet<String> = entry
        .changeset
        .changes
        .iter()
        .map(|change| {
            let place = change.place.to_string().replace("_renamed", "");
            let marks = [(change.mutated, "in place"), (change.bound, "bound"), (change.iterated, "iterated")];
            let marks: Vec<&str> = marks.iter().filter(|(holds, _)| *holds).map(|(_, mark)| *mark).collect();
            format!("{place} ({})", marks.join(", "))
        })
        .collect();
    let gradients = if entry.gradients { " with gradients" } else { "" };
    format!("{}{gradients}", found.into_iter().collect::<Vec<_>>().join("; "))
}

fn planned(source: &Source) -> Plan {
    let options = Options { mode: EffectsMode::Flow, ..Options::default() };
    plan_only(source, &options).unwrap_or_else(|error| panic!("{}\n{}", error.render(source), source.text))
}

fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let mut found: Vec<PathBuf> = ["loops", "calls", "scripts"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("a folder of testdata").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .collect();
    found.sort();
    found
}

/// Applies a transform to every program but the excluded ones, each with its reason.
fn keeps(transform: fn(&Source) -> Option<String>, at_least: usize, excluded: &[(&str, &str)]) {
    let mut changed = 0;
    let mut wrong = Vec::new();
    for path in programs() {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        if excluded.iter().any(|(file, _)| *file == name) {
            continue;
        }
        let source = Source::new(name.clone(), std::fs::read_to_string(&path).expect("a readable file"));
        let Some(text) = transform(&source) else { continue };
        changed += 1;
        let (before, after) = (essence(&planned(&source)), essence(&planned(&Source::new(name.clone(), text.clone()))));
        if before != after {
            let lines: Vec<String> = before
                .iter()
                .zip(&after)
                .filter(|(old, new)| old != new)
                .map(|(old, new)| format!("  - {old}\n  + {new}"))
                .collect();
            wrong.push(format!("{name}\n{}", lines.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} of {changed} programs:\n{}", wrong.len(), wrong.join("\n"));
    assert!(changed >= at_least, "only {changed} programs were changed: is the transform still doing anything?");
}

/// It reads `globals()` and runs code from a file: every name of the module counts as read, a new one too.
const READS_ITS_GLOBALS: (&str, &str) = ("char_gpt.py", "every name of the module is live");

/// Its modules are not read here: unknown calls change globals, and the variables of the function around it too.
const USES_UNSEEN_MODULES: (&str, &str) = ("engine_project.py", "what its modules do is not known");

#[test]
fn renaming_variables() {
    keeps(rewrite::rename_variables, 30, &[]);
}

#[test]
fn adding_dead_code() {
    keeps(rewrite::add_dead_code, 30, &[READS_ITS_GLOBALS]);
}

#[test]
fn splitting_expressions_into_temporaries() {
    keeps(rewrite::split_expressions, 20, &[READS_ITS_GLOBALS]);
}

#[test]
fn reordering_independent_statements() {
    keeps(rewrite::reorder, 10, &[]);
}

#[test]
fn wrapping_the_module_in_a_function() {
    keeps(rewrite::wrap_in_function, 20, &[USES_UNSEEN_MODULES]);
}
