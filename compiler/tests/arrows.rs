//! Who may import whom: a module imports only from those to its left, and no file from one that imports from it.

#[allow(dead_code, reason = "the runtime crate's test asks for what each file names")]
mod imports;

use imports::Crate;
use std::fs;
use std::path::{Path, PathBuf};

const ORDER: &[&str] = &[
    "source",
    "diagnostics",
    "ids",
    "knowledge",
    "syntax",
    "scopes",
    "flow",
    "loops",
    "project",
    "calls",
    "effects",
    "analysis",
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
        let mut found: Vec<PathBuf> =
            [root.join(module).with_extension("rs")].into_iter().filter(|path| path.exists()).collect();
        if root.join(module).is_dir() {
            files(&root.join(module), &mut found);
        }
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

#[test]
fn no_files_import_each_other() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    if let Some(circle) = Crate::read(&src).circle() {
        panic!("{}: each imports from the next; what they share belongs in a file of its own", circle.join(" → "));
    }
}

#[test]
fn a_circle_is_found_through_what_is_passed_on() {
    let circle = |files: &[(&str, &str)]| {
        Crate::of(files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))).circle()
    };
    let lib = ("lib.rs", "pub mod a;\n");
    // `A` is of one.rs: mod.rs only passes it on
    let passed_on = ("a/mod.rs", "mod one;\nmod two;\npub use one::A;\n");
    let two = ("a/two.rs", "use super::A;\nfn f(_: A) {}\n");
    assert_eq!(circle(&[lib, passed_on, ("a/one.rs", "pub struct A;\n"), two]), None);
    let one = ("a/one.rs", "pub struct A;\nfn g() { super::two::f(A) }\n");
    assert_eq!(circle(&[lib, passed_on, one, two]).unwrap(), ["a/one.rs", "a/two.rs", "a/one.rs"]);
    // a folder's own file that defines something and uses what is below
    let user = ("a/mod.rs", "mod two;\npub struct A;\nfn g() { two::f(A) }\n");
    assert_eq!(circle(&[lib, user, two]).unwrap(), ["a/mod.rs", "a/two.rs", "a/mod.rs"]);
    let grouped =
        ("a/one.rs", "use crate::a::{\n    two::{self as other},\n};\nfn g() { other::f() }\npub struct A;\n");
    assert!(circle(&[lib, passed_on, grouped, two]).is_some());
    // a word in a comment, and a test, import nothing
    let quiet =
        ("a/one.rs", "// super::two::f\npub struct A;\n#[cfg(test)]\nmod tests { use super::super::two::f; }\n");
    assert_eq!(circle(&[lib, passed_on, quiet, two]), None);
}

#[test]
fn nothing_is_decided_on_the_words_of_a_reason() {
    const TESTS: &[&str] =
        &["contains", "ends_with", "starts_with", "strip_prefix", "split", "rsplit", "find", "as_deref"];
    each_file(|_, path, text| {
        for test in TESTS {
            for call in [format!("why.{test}("), format!("why.to_string().{test}("), format!("reason.{test}(")] {
                assert!(!text.contains(&call), "{}: `{call}`: decide on the reason, not on its words", path.display());
            }
        }
    });
}
