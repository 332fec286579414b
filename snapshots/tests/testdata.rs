//! What florc makes of every file in `testdata/`, beside it under the same name.
//!
//! `INSTA_UPDATE=always cargo test -p florc-snapshots` accepts what is there now: read the difference before.

use florc::analysis::Analysis;
use florc::cli::{load_codebase, plans_text, probes_text as report_text};
use florc::emit::undo;
use florc::plan::to_text;
use florc::probes::compare;
use florc::syntax::File;
use florc::{EffectsMode, Options, Source, instrument, plan_only};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn mode(mode: EffectsMode) -> Options {
    Options { mode, ..Options::default() }
}

/// Reads a file as Latin-1-tolerant text would not be: only what decodes is snapshot-tested here.
fn read(path: &Path) -> Source {
    let name = relative(path);
    match florc::cli::read_source(path) {
        Ok(source) => Source::new(name.display().to_string(), source.text),
        Err(message) => panic!("{message}"),
    }
}

/// The path below `testdata/`.
fn relative(path: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata").canonicalize().expect("testdata");
    path.strip_prefix(root).expect("a path below testdata").to_owned()
}

/// Carriage returns made visible: insta compares after turning CRLF into LF.
fn visible(text: &str) -> String {
    text.replace('\r', "␍")
}

fn check(kind: &str, path: &Path, text: &str) {
    let relative = relative(path);
    let folder = Path::new("..").join(kind).join(relative.parent().unwrap_or(Path::new("")));
    let name = relative.file_stem().and_then(|stem| stem.to_str()).unwrap_or("unnamed").to_owned();
    insta::with_settings!({
        snapshot_path => folder,
        snapshot_suffix => "",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name, visible(text));
    });
}

fn each(glob: &str, test: impl Fn(&Path)) {
    insta::glob!("../../testdata", glob, |path| test(&path.canonicalize().expect("a file")));
}

const GOOD: &str = "{paper,rules,loops,calls,syntax,scripts}/*.py";

#[test]
fn instrumented() {
    each(GOOD, |path| {
        let source = read(path);
        let done =
            instrument(&source, &mode(EffectsMode::Flow)).unwrap_or_else(|error| panic!("{}", error.render(&source)));
        assert_eq!(undo(&done.emitted), source.text, "the insertions can be taken out again");
        check("instrument", path, &done.emitted.text);
    });
}

#[test]
fn planned() {
    each(GOOD, |path| {
        let source = read(path);
        let plan =
            plan_only(&source, &mode(EffectsMode::Flow)).unwrap_or_else(|error| panic!("{}", error.render(&source)));
        check("plan", path, &to_text(&source, &plan));
    });
}

#[test]
fn planned_projects() {
    each("projects/*/train.py", |path| {
        let folder = path.parent().expect("a folder");
        let source = florc::cli::read_source(path).unwrap_or_else(|message| panic!("{message}"));
        let mut codebase =
            load_codebase(&source, path).unwrap_or_else(|diagnostic| panic!("{}", diagnostic.render(&source)));
        for file in &mut codebase.files {
            let below = Path::new(&file.source.name).strip_prefix(folder).expect("a file of the project");
            file.source.name = below.display().to_string();
        }
        let plans = Analysis::new(&codebase.files).plans(&mode(EffectsMode::Flow));
        let files: Vec<_> = codebase.files.iter().map(|file| &file.source).zip(&plans).collect();
        check("plan", path, &plans_text(&files, &codebase));
    });
}

#[test]
fn planned_by_table2() {
    each("{paper,rules}/*.py", |path| {
        let source = read(path);
        let plan =
            plan_only(&source, &mode(EffectsMode::Table2)).unwrap_or_else(|error| panic!("{}", error.render(&source)));
        check("table2", path, &to_text(&source, &plan));
    });
}

#[test]
fn probed() {
    each("probes/*/new.py", |path| {
        let (old, new) = (read(&path.with_file_name("old.py")), read(path));
        let parse = |source: &Source| {
            File::script(source.clone(), "").unwrap_or_else(|error| panic!("{}", error.render(source)))
        };
        let report = compare(&[parse(&old)], &[parse(&new)], &mode(EffectsMode::Flow), &BTreeSet::new()).remove(0);
        check("probes", path, &report_text(&report, &old.name, &new.name));
    });
}

#[test]
fn diagnosed() {
    each("errors/*.py", |path| {
        let text = match florc::cli::read_source(path) {
            Err(message) => {
                let folder = path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
                message.replace(&format!("{folder}/"), "errors/")
            }
            Ok(_) => {
                let source = read(path);
                match instrument(&source, &mode(EffectsMode::Flow)) {
                    Ok(_) => panic!("{} is accepted", source.name),
                    Err(diagnostic) => diagnostic.render(&source),
                }
            }
        };
        check("diagnostics", path, &text);
    });
}
