//! `florc probes`.

use super::args::ProbesArgs;
use super::compile::load;
use super::{OK, print};
use crate::plan::Options;
use crate::probes::{ChangeKind, Report, compare};
use crate::syntax;
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) fn probes(args: &ProbesArgs) -> i32 {
    let old = match load(&args.old, syntax::parse) {
        Ok((source, (module, _))) => (source, module),
        Err(code) => return code,
    };
    let new = match load(&args.new, syntax::parse) {
        Ok((source, (module, _))) => (source, module),
        Err(code) => return code,
    };
    let report = compare((&old.0, &old.1), (&new.0, &new.1), &Options::default());
    if args.json {
        print(&format!("{}\n", to_json(&report)));
    } else {
        print(&to_text(&report, &old.0.name, &new.0.name));
    }
    OK
}

/// The report for people. `old` and `new` are the names of the two files.
pub fn to_text(report: &Report, old: &str, new: &str) -> String {
    if report.changes.is_empty() {
        return "no change but blanks and comments\n".to_owned();
    }
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

/// The report for programs: the runtime reads this too.
pub fn to_json(report: &Report) -> Value {
    let changes: Vec<Value> = report
        .changes
        .iter()
        .map(|change| {
            json!({
                "kind": match change.kind {
                    ChangeKind::Probe => "probe",
                    ChangeKind::RemovedLog => "removed log",
                    ChangeKind::Outside => "outside",
                    ChangeKind::Inside => "inside",
                },
                "line": change.line,
                "end_line": change.end_line,
                "removed": change.removed,
                "text": change.text,
                "loops": change.loops,
                "why": change.why,
            })
        })
        .collect();
    json!({ "changes": changes, "matched": report.matched, "probed": report.probed })
}
