use super::*;
use crate::store::journal::Journal;
use std::collections::BTreeMap;
use std::path::Path;

/// How often each kind is in the journals of earlier versions.
fn kinds_of_earlier_runs() -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for store in ["plain", "loops", "files"] {
        let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/stores").join(store).join("store/runs");
        for run in std::fs::read_dir(runs).unwrap() {
            let mut journal = Journal::open(&run.unwrap().path().join("journal.0"), None).unwrap();
            while let Some(record) = journal.next_record().unwrap() {
                let read = Record::read(&record.kind, &record.payload);
                let is_read = !matches!(read.unwrap_or_else(|error| panic!("{record:?}: {error}")), Record::Other);
                assert_eq!(is_read, record.kind != "run", "{record:?}");
                *found.entry(record.kind).or_default() += 1;
            }
        }
    }
    found
}

#[test]
fn every_entry_of_earlier_runs_is_read() {
    let found = kinds_of_earlier_runs();
    assert!(found.len() >= 15, "{found:?}");
}

#[test]
fn what_older_versions_did_not_write_has_a_default() {
    let read = |kind, payload| Record::read(kind, payload).unwrap();
    let plan = r#"{"file": "t.py", "plan": {"effects": "flow", "file": "t.py", "loops": []}, "loops": []}"#;
    assert!(matches!(read("plan", plan), Record::Planned(_)));
    assert!(matches!(read("clocks", r#"{"perf_counter": 1}"#), Record::Clocks(_)));
    assert!(matches!(read("line", r#"{"path": "", "text": "", "file": "t.py", "line": 1}"#), Record::Line(_)));
    assert!(matches!(read("file", r#"{"path": "a", "at": ""}"#), Record::File(_)));
    assert!(matches!(read("of a later version", "[1]"), Record::Other));
}

#[test]
fn an_entry_of_another_shape_is_refused() {
    for (kind, payload) in [
        ("checkpoint", "{}"),
        ("iteration", r#"{"path": 1, "at": 0}"#),
        ("iteration", r#"{"path": "L1=0"}"#),
        ("lines", r#"{"lines": [["", "text"]]}"#),
        ("lines", r#"{"lines": [["", "text", "t.py", 1, [], 2]]}"#),
        ("lines", r#"{"lines": [["", "text", "t.py", 1, [], [0, 4], 2, 3]]}"#),
        ("plan", r#"{"file": "t.py", "plan": {}}"#),
        ("end", "[]"),
        ("of a later version", "{"),
    ] {
        assert!(Record::read(kind, payload).is_err(), "{kind} {payload}");
    }
}

#[test]
fn texts_may_hold_what_is_no_utf_8() {
    Python::initialize();
    Python::attach(|py| {
        let record = Record::read(
            "lines",
            r#"{"lines": [["L1=0", "\udcff é \ud83d\ude00 \u00e9", null, -3, [["", "\ud800"]]]]}"#,
        );
        let lines = record.unwrap().into_python(py).unwrap();
        let line = lines.getattr(py, "lines").unwrap().bind(py).get_item(0).unwrap();
        let told = line.getattr("text").unwrap().repr().unwrap().to_string();
        assert_eq!(told, r"'\udcff é 😀 é'");
        assert!(line.getattr("file").unwrap().is_none());
        assert_eq!(line.getattr("parts").unwrap().repr().unwrap().to_string(), r"[('', '\ud800')]");
        let record = Record::read("circumstances", r#"{"found": {"b": "\ud800", "a": [1, null]}}"#);
        let found = record.unwrap().into_python(py).unwrap().getattr(py, "found").unwrap();
        assert_eq!(found.bind(py).repr().unwrap().to_string(), r"{'b': '\ud800', 'a': [1, None]}");
    });
}

/// What writes records is checked against this by mypy.
#[test]
fn the_stub_names_every_kind() {
    let stub = include_str!("../../../python/florc/_native.pyi");
    let (_, rest) = stub.split_once("_RecordKind = Literal[").expect("the stub has it");
    let (list, _) = rest.split_once(']').expect("it ends");
    let mut named: Vec<_> =
        list.split(',').map(|name| name.trim().trim_matches('"')).filter(|n| !n.is_empty()).collect();
    let mut kinds = KINDS.to_vec();
    named.sort_unstable();
    kinds.sort_unstable();
    assert_eq!(named, kinds);
}
