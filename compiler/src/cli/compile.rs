//! `florc instrument` and `florc plan`.

use super::args::{InstrumentArgs, PlanArgs};
use super::{DIFFERS, OK, UNUSABLE, print};
use crate::diagnostics::{Code, Diagnostic};
use crate::plan::{Analysis, Options, explain, to_json, to_text};
use crate::source::{Range, Source, decode};
use crate::{Instrumented, syntax};
use serde_json::json;
use similar::TextDiff;
use std::io::Read as _;
use std::path::Path;

/// Reads a file, or standard input for `-`.
///
/// # Errors
/// The message to print.
pub fn read_source(path: &Path) -> Result<Source, String> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    let name = if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() };
    read.map_err(|error| format!("florc: cannot read {name}: {}\n", plain(&error)))?;
    decode(&bytes).map(|text| Source::new(name.clone(), text)).map_err(|(at, message)| {
        let shown = Source::new(name, String::from_utf8_lossy(&bytes).into_owned());
        let help = "save the file as UTF-8, or declare its encoding in a comment on the first line".to_owned();
        Diagnostic { code: Code::Encoding, message, range: Range::new(at, at), help }.render(&shown)
    })
}

/// The operating system's words without the error number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

pub(super) fn instrument(args: &InstrumentArgs) -> i32 {
    let options = Options { mode: args.effects.into(), ..Options::default() };
    let (source, done) = match load(&args.script, |source| crate::instrument(source, &options)) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
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
        let plan = to_json(source, &done.plan);
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
    if args.dot {
        return dot(&args.script);
    }
    let (source, plan) = match load(&args.script, |source| crate::plan_only(source, &options)) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    if let Some(id) = &args.explain {
        let Some(story) = explain(&source, &plan, id) else {
            let known: Vec<&str> = plan.loops.iter().map(|entry| entry.id.as_str()).collect();
            eprintln!("florc: {} has no loop {id}; it has {}", source.name, known.join(", "));
            return UNUSABLE;
        };
        print(&story);
    } else if args.json {
        print(&format!("{}\n", to_json(&source, &plan)));
    } else {
        print(&to_text(&source, &plan));
    }
    OK
}

fn dot(path: &Path) -> i32 {
    let loaded = load(path, |source| {
        let (module, _) = syntax::parse(source)?;
        let analysis = Analysis::new(source, &module);
        let flows = analysis.flows();
        let title = |scope: usize| match analysis.project.scopes.list[scope].qualname.as_str() {
            "" => "module".to_owned(),
            name => name.to_owned(),
        };
        Ok(flows.iter().map(|(scope, flow)| flow.dot(&title(*scope))).collect::<String>())
    });
    match loaded {
        Ok((_, text)) => {
            print(&text);
            OK
        }
        Err(code) => code,
    }
}

/// Reads and processes a file, or prints why it cannot be and gives the exit code.
pub(super) fn load<T>(path: &Path, work: impl FnOnce(&Source) -> Result<T, Diagnostic>) -> Result<(Source, T), i32> {
    let source = read_source(path).map_err(|message| {
        eprint!("{message}");
        UNUSABLE
    })?;
    match work(&source) {
        Ok(done) => Ok((source, done)),
        Err(diagnostic) => {
            eprint!("{}", diagnostic.render(&source));
            Err(UNUSABLE)
        }
    }
}
