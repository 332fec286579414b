//! `florc probes`.

use super::args::ProbesArgs;
use super::modules;
use super::output::{OK, print};
use super::read::load;
use crate::plan::Options;
use crate::probes::{ChangeKind, Report, compare};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

pub(super) fn probes(args: &ProbesArgs) -> i32 {
    let load_all = |path: &Path| load(path, |source| modules::load(source, path));
    let (old, new) = match (load_all(&args.old), load_all(&args.new)) {
        (Ok((_, old)), Ok((_, new))) => (old, new),
        (Err(code), _) | (_, Err(code)) => return code,
    };
    let reports = compare(&old.files, &new.files, &Options::default(), &BTreeSet::new());
    if args.json {
        let mut script = to_json(&reports[0]);
        script["modules"] = reports[1..].iter().map(to_json).collect();
        print(&format!("{script}\n"));
        return OK;
    }
    let mut out = String::new();
    for (report, file) in reports.iter().zip(&new.files) {
        let before = old.files.iter().find(|known| known.name == report.name);
        let old_name = before.map_or("", |known| known.source.name.as_str());
        out += &to_text(report, old_name, &file.source.name);
    }
    print(if out.is_empty() { NO_CHANGE } else { &out });
    OK
}

const NO_CHANGE: &str = "no change but blanks and comments\n";

/// The report for people. `old` and `new` are the names of the two files.
pub fn to_text(report: &Report, old: &str, new: &str) -> String {
    let mut out = String::new();
    for change in &report.changes {
        let file = if change.removed { old } else { new };
        let _ = writeln!(out, "{file}:{}: {}\n    {}", change.line, words(change.kind), change.text);
        if let Some(why) = change.why.as_ref().filter(|_| change.kind != ChangeKind::Probe) {
            let _ = writeln!(out, "    because: {why}");
        }
        if !change.loops.is_empty() {
            let verb = if change.kind == ChangeKind::Probe { "runs again" } else { "in or below" };
            let _ = writeln!(out, "    {verb}: {}", change.loops.join(", "));
        }
    }
    out
}

fn words(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Probe => "added in hindsight",
        ChangeKind::RemovedLog => "log statement removed",
        ChangeKind::Outside => "change outside memoized loops",
        ChangeKind::Inside => "change inside a memoized loop",
    }
}

/// The report for programs.
fn to_json(report: &Report) -> Value {
    let changes: Vec<Value> = report
        .changes
        .iter()
        .map(|change| {
            json!({
                "kind": change.kind.name(),
                "line": change.line,
                "end_line": change.end_line,
                "removed": change.removed,
                "text": change.text,
                "loops": change.loops,
                "why": change.why.as_ref().map(ToString::to_string),
                "can_be_seen": change.can_be_seen,
            })
        })
        .collect();
    let entered: Vec<Value> = report.entered.iter().map(|found| json!([found.file, found.line, found.name])).collect();
    json!({
        "module": report.name,
        "changes": changes,
        "matched": report.matched,
        "probed": report.probed,
        "entered": entered,
    })
}
