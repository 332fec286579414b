//! A plan as text for people.

use super::model::{Action, LoopPlan, Plan};
use crate::effects::Change;
use crate::source::Source;
use std::fmt::Write as _;

/// One line per loop, then the changeset of each memoized loop with what added each entry.
pub fn to_text(source: &Source, plan: &Plan) -> String {
    if plan.loops.is_empty() {
        return format!("{}: no loops\n", source.name);
    }
    let mut out = format!("{}\n", source.name);
    let ids = plan.loops.iter().map(|entry| entry.id.len()).max().unwrap_or(0);
    let headers = plan.loops.iter().map(|entry| shown_header(entry).chars().count()).max().unwrap_or(0).min(60);
    for entry in &plan.loops {
        let header = shown_header(entry);
        let _ = writeln!(
            out,
            "  {:ids$}  line {:<4} {header:headers$}  {}",
            entry.id,
            entry.line,
            summary(source, entry),
            ids = ids
        );
    }
    assumptions(&mut out, source, plan);
    out
}

/// What rests on an assumption: one line per call, with the places that it is assumed to change.
fn assumptions(out: &mut String, source: &Source, plan: &Plan) {
    let mut width = 0;
    let mut rows: Vec<(&str, usize, String, Vec<String>)> = Vec::new();
    for entry in &plan.loops {
        for change in entry.changeset.changes.iter().filter(|change| change.assumed) {
            let line = source.lines.line(change.range.start);
            let call = one_line(source, change);
            width = width.max(call.chars().count());
            let place = change.name();
            match rows.iter_mut().find(|(id, at, text, _)| *id == entry.id && *at == line && *text == call) {
                Some((.., places)) => places.push(place),
                None => rows.push((&entry.id, line, call, vec![place])),
            }
        }
    }
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nassumed, because florc cannot see the code that is called (all else is known):");
    for (id, line, call, places) in rows {
        let _ = writeln!(out, "  {id}  line {line:<4} {call:width$}  may change {}", places.join(", "));
    }
}

/// The source of the call that an assumption is about, cut to fit a line.
fn one_line(source: &Source, change: &Change) -> String {
    let text = source.slice(change.range).split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(48) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

fn shown_header(entry: &LoopPlan) -> String {
    let indent = "  ".repeat(entry.depth);
    let mut header = format!("{indent}{}", entry.header);
    if header.chars().count() > 60 {
        header = header.chars().take(59).chain(['…']).collect();
    }
    header
}

fn summary(source: &Source, entry: &LoopPlan) -> String {
    let places: Vec<String> = entry.changeset.changes.iter().map(|change| change.name()).collect();
    let mut places = if places.is_empty() { "nothing but generators".to_owned() } else { places.join(", ") };
    if entry.gradients {
        places.push_str(", with gradients");
    }
    let note = entry.note.as_ref().map(|note| {
        let line = source.lines.line(note.range.start);
        if line == entry.line { note.why.to_string() } else { format!("line {line}: {}", note.why) }
    });
    match (&entry.action, note) {
        (Action::MainLoop, None) => "main loop".to_owned(),
        (Action::MainLoop, Some(note)) => format!("main loop, not memoized: {note}"),
        (Action::SkipBlock, _) => format!("memoized: {places}"),
        (Action::Both, _) => format!("main loop, memoized: {places}"),
        (Action::Inside(outer), _) => format!("skipped with {outer}"),
        (Action::Reserve(outer), _) => format!("skipped with {outer}; in reserve: {places}"),
        (Action::LeftAlone, note) => format!("left alone: {}", note.unwrap_or_default()),
    }
}

/// The whole story of one loop; `None` when there is no loop with this id.
pub fn explain(source: &Source, plan: &Plan, id: &str) -> Option<String> {
    let entry = plan.loops.iter().find(|entry| entry.id == id)?;
    let mut out = String::new();
    let place = if entry.scope.is_empty() { "at module level".to_owned() } else { format!("in {}", entry.scope) };
    let _ = writeln!(out, "{} {}:{} {place}", entry.id, source.name, entry.line);
    let _ = writeln!(out, "    {}", entry.header);
    let _ = writeln!(out, "{}", summary(source, entry));
    if !entry.changeset.changes.is_empty() {
        let _ = writeln!(out, "\nthe checkpoint holds the random generators, and");
    }
    let width = entry.changeset.changes.iter().map(|change| change.name().len()).max().unwrap_or(0);
    for change in &entry.changeset.changes {
        let line = source.lines.line(change.range.start);
        let assumed = if change.assumed { " (assumed: florc cannot see its code)" } else { "" };
        let _ = writeln!(out, "    {:width$}  {:13} line {line}: {}{assumed}", change.name(), how(change), change.why);
    }
    Some(out)
}

fn how(change: &Change) -> &'static str {
    match (change.bound, change.iterated, change.mutated) {
        (true, _, true) => "in place, and",
        (true, _, _) => "rebound",
        (_, true, _) => "generators of",
        _ => "in place",
    }
}
