//! Who may import whom: a room imports only from those before it, and no two files import one another in a circle.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

#[path = "../../compiler/tests/imports/mod.rs"]
#[allow(dead_code, reason = "the compiler's test makes crates of texts, too")]
mod imports;

use imports::Crate;
use std::path::Path;

/// A room is a folder of `src`, or a file beside them.
const ORDER: &[&str] = &[
    "locks",
    "bins",
    "class_table",
    "store",
    "policy",
    "materialize",
    "save",
    "guard",
    "encode",
    "witness",
    "survey",
    "nest",
    "inputs",
    "process",
    "project",
    "python",
    "lib",
];

fn read() -> Crate {
    Crate::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

#[test]
fn no_arrow_is_reversed() {
    let at = |room: &str| ORDER.iter().position(|known| *known == room);
    let named = read().named();
    assert!(!named.is_empty());
    for (file, room) in named {
        let own = file.split(['/', '.']).next().unwrap_or_default();
        let place = at(own).unwrap_or_else(|| panic!("`{own}` has no place in ORDER"));
        assert!(
            at(&room).is_none_or(|other| other <= place),
            "{file} imports from `{room}`, which comes after `{own}`: {ORDER:?} is the order"
        );
    }
}

#[test]
fn no_files_import_one_another_in_a_circle() {
    if let Some(circle) = read().circle() {
        panic!("these files import one another in a circle: {}", circle.join(" → "));
    }
}
