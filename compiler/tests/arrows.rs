//! Who may import whom: a module imports only from those to its left.

use std::fs;
use std::path::{Path, PathBuf};

const ORDER: &[&str] = &[
    "source",
    "diagnostics",
    "syntax",
    "scopes",
    "flow",
    "loops",
    "calls",
    "effects",
    "plan",
    "emit",
    "probes",
    "cli",
];

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

fn each_file(mut check: impl FnMut(&str, &Path, &str)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for module in ORDER {
        let mut found = Vec::new();
        files(&root.join(module), &mut found);
        assert!(!found.is_empty(), "compiler/src/{module} is gone: is ORDER still right?");
        for path in found {
            let text = fs::read_to_string(&path).expect("a file");
            check(module, &path, &text);
        }
    }
}

#[test]
fn no_arrow_is_reversed() {
    each_file(|module, path, text| {
        let own = ORDER.iter().position(|known| known == &module).expect("a known module");
        for later in &ORDER[own + 1..] {
            assert!(
                !text.contains(&format!("crate::{later}")),
                "{} imports from `{later}`, which knows more than `{module}`: {ORDER:?} is the order",
                path.display()
            );
        }
    });
}

#[test]
fn each_library_has_its_rooms() {
    for (library, rooms) in [
        ("rustpython_", &["syntax"][..]),
        ("petgraph", &["flow", "loops", "calls"]),
        ("clap::", &["cli"]),
        ("similar::", &["cli", "probes"]),
        ("std::fs", &["cli"]),
        ("println!", &["cli"]),
    ] {
        each_file(|module, path, text| {
            assert!(
                !text.contains(library) || rooms.contains(&module),
                "{} names `{library}`, which belongs to {rooms:?}",
                path.display()
            );
        });
    }
}
