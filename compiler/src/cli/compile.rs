//! `florc instrument` and `florc plan`.

use super::args::{InstrumentArgs, PlanArgs};
use super::modules;
use super::output::{DIFFERS, OK, UNUSABLE, print};
use super::read::{load, plain};
use crate::Instrumented;
use crate::analysis::Analysis;
use crate::diagnostics::Diagnostic;
use crate::emit::emit_checked;
use crate::ids::FileId;
use crate::plan::{Options, Plan, explain, schema, to_text};
use crate::project::Codebase;
use crate::scopes::ScopeId;
use crate::source::Source;
use serde_json::{Value, json};
use similar::TextDiff;
use std::fmt::Write as _;
use std::path::Path;

/// A file of a project, instrumented with what is known of all of them.
fn instrumented(source: &Source, script: &Path, options: &Options) -> Result<Instrumented, Diagnostic> {
    let codebase = modules::load(source, script)?;
    let plan = Analysis::new(&codebase.files).plans(options).remove(0);
    let emitted = emit_checked(&codebase.files[0], &plan, &[]);
    Ok(Instrumented::new(source, plan, emitted))
}

pub(super) fn instrument(args: &InstrumentArgs) -> i32 {
    let options = Options { mode: args.effects.into(), ..Options::default() };
    let (source, done) = match load(&args.script, |source| instrumented(source, &args.script, &options)) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    if let Some(why) = done.left_alone {
        eprintln!("florc: {} is left as it is: {why}", source.name);
    }
    if args.check {
        return if done.emitted.edits.is_empty() { OK } else { DIFFERS };
    }
    let text = shown(&source, &done, args);
    match &args.output {
        None => print(&text),
        Some(path) => {
            if let Err(error) = std::fs::write(path, text) {
                eprintln!("florc: cannot write {}: {}", path.display(), plain(&error));
                return UNUSABLE;
            }
        }
    }
    OK
}

fn shown(source: &Source, done: &Instrumented, args: &InstrumentArgs) -> String {
    if args.json {
        let edits: Vec<_> =
            done.emitted.edits.iter().map(|edit| json!({ "offset": edit.offset, "text": edit.text })).collect();
        let plan = schema::Plan::new(source, &done.plan);
        return format!("{}\n", json!({ "text": done.emitted.text, "edits": edits, "plan": plan }));
    }
    if args.diff {
        let diff = TextDiff::from_lines(&source.text, &done.emitted.text);
        let after = format!("{} (instrumented)", source.name);
        return diff.unified_diff().header(&source.name, &after).to_string();
    }
    done.emitted.text.clone()
}

pub(super) fn plan(args: &PlanArgs) -> i32 {
    let options = Options { mode: args.effects.into(), ..Options::default() };
    let (script, first) = args.file();
    let codebase = match load(&script, |source| modules::load_from(source, &script, &first)) {
        Ok((_, codebase)) => codebase,
        Err(code) => return code,
    };
    let analysis = Analysis::new(&codebase.files);
    if args.dot {
        print(&dot(&analysis));
        return OK;
    }
    let plans = analysis.plans(&options);
    let files: Vec<(&Source, &Plan)> = codebase.files.iter().map(|file| &file.source).zip(&plans).collect();
    if let Some(id) = &args.explain {
        let Some(story) = files.iter().find_map(|(source, plan)| explain(source, plan, id)) else {
            let known: Vec<&str> = plans.iter().flat_map(|plan| &plan.loops).map(|entry| entry.id.as_str()).collect();
            eprintln!("florc: {} has no loop {id}; it has {}", script.display(), known.join(", "));
            return UNUSABLE;
        };
        print(&story);
    } else if args.json {
        print(&format!("{}\n", plans_json(&files, &codebase)));
    } else {
        print(&plans_text(&files, &codebase));
    }
    OK
}

/// The script's plan, then those of the modules that hold loops, then what could not be followed.
pub fn plans_text(files: &[(&Source, &Plan)], codebase: &Codebase) -> String {
    let (script, modules) = (files[0], &files[1..]);
    let mut out = to_text(script.0, script.1);
    for (source, plan) in modules.iter().filter(|(_, plan)| !plan.loops.is_empty()) {
        let _ = write!(out, "\n{}", to_text(source, plan));
    }
    if !codebase.unfollowed.is_empty() {
        let _ = writeln!(out, "\nimports that are not part of this plan:");
    }
    for import in &codebase.unfollowed {
        let source = &codebase.files.as_slice()[import.file].source;
        let _ = writeln!(out, "  {}:{}: {}", source.name, source.lines.line(import.range.start), import.why);
    }
    out
}

fn plans_json(files: &[(&Source, &Plan)], codebase: &Codebase) -> Value {
    let mut script = json!(schema::Plan::new(files[0].0, files[0].1));
    let unfollowed: Vec<Value> = codebase
        .unfollowed
        .iter()
        .map(|import| {
            let source = &codebase.files.as_slice()[import.file].source;
            json!({ "file": source.name, "line": source.lines.line(import.range.start), "why": import.why })
        })
        .collect();
    script["modules"] = files[1..].iter().map(|(source, plan)| json!(schema::Plan::new(source, plan))).collect();
    script["unfollowed"] = unfollowed.into();
    script
}

/// The control flow of the script's scopes that hold loops.
fn dot(analysis: &Analysis) -> String {
    let scopes = &analysis.project.scopes;
    let title = |scope: ScopeId| match scopes.list[scope].qualname.as_str() {
        "" => "module".to_owned(),
        name => name.to_owned(),
    };
    let flows = analysis.flows();
    flows
        .iter()
        .filter(|(scope, _)| scopes.list[**scope].file == FileId::FIRST)
        .map(|(scope, flow)| flow.dot(&title(*scope)))
        .collect()
}
