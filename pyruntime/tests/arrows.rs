//! Who may import whom: a room imports only from those before it, and no two files import one another in a circle.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A room is a folder of `src`, or a file beside them.
const ORDER: &[&str] = &[
    "locks",
    "store",
    "policy",
    "materialize",
    "save",
    "guard",
    "encode",
    "nest",
    "inputs",
    "process",
    "project",
    "python",
    "lib",
];

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            out.push(path);
        }
    }
}

/// What a file says of others: paths from the root of the crate.
struct File {
    uses: Vec<String>,
    /// `pub use` of what its own files have: who asks this module for the last name of the path means that file.
    hands_on: Vec<String>,
}

/// Every module of the crate by its name (`store::pack::read`), without its tests.
fn modules() -> BTreeMap<String, File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&root, &mut found);
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(&root).expect("below src").with_extension("");
        let name = name.to_string_lossy().replace('/', "::").trim_end_matches("::mod").to_owned();
        let text = fs::read_to_string(path).expect("a file");
        let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let code = shipped.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let file = file(&name, &code);
        (name, file)
    };
    found.iter().map(read).collect()
}

fn file(name: &str, code: &str) -> File {
    let after = |word: &str, root: &str| {
        let is_whole = |at: &usize| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        let at = code.match_indices(word).map(|(at, _)| at).filter(is_whole);
        at.flat_map(|at| {
            let found = paths(&format!("{root}{}", &code[at + word.len()..]));
            found.into_iter().map(move |path| (code[..at].ends_with("pub use "), path))
        })
        .collect::<Vec<_>>()
    };
    let above = name.rsplit_once("::").map_or(String::new(), |(above, _)| format!("{above}::"));
    let own = if name == "lib" { String::new() } else { format!("{name}::") };
    let mut found = [after("crate::", ""), after("super::", &above)].concat();
    for line in code.lines().filter_map(|line| line.strip_suffix(';')) {
        if let Some((_, inner)) =
            line.split_once("mod ").filter(|(before, _)| before.is_empty() || before.starts_with("pub"))
        {
            found.extend(after(&format!("{inner}::"), &format!("{own}{inner}::")));
        }
    }
    let (hands_on, uses): (Vec<_>, Vec<_>) = found.into_iter().partition(|(is_handed_on, _)| *is_handed_on);
    let bare = |found: Vec<(bool, String)>| found.into_iter().map(|(_, path)| path).collect();
    File { uses: bare(uses), hands_on: bare(hands_on) }
}

/// `a::{b, c::D}` at the head of a text → `a::b`, `a::c::D`.
fn paths(text: &str) -> Vec<String> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(text.len());
    let (head, rest) = text.split_at(end);
    let Some(inside) = rest.strip_prefix('{') else { return vec![head.to_owned()] };
    let (mut depth, mut begun, mut out) = (0, 0, Vec::new());
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                out.extend(paths(&format!("{head}{}", inside[begun..at].trim())));
                begun = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => (),
        }
    }
    out
}

fn room(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

#[test]
fn no_arrow_is_reversed() {
    let at = |room: &str| ORDER.iter().position(|known| *known == room);
    for (module, file) in modules() {
        let own = at(room(&module)).unwrap_or_else(|| panic!("`{}` has no place in ORDER", room(&module)));
        for path in file.uses.iter().chain(&file.hands_on) {
            assert!(
                at(room(path)).is_none_or(|other| other <= own),
                "`{module}` imports `{path}`, but {} comes after {} in {ORDER:?}",
                room(path),
                room(&module)
            );
        }
    }
}

/// The module whose file has what a path names.
fn file_of(path: &str, modules: &BTreeMap<String, File>) -> Option<String> {
    let ends = path.match_indices("::").map(|(end, _)| end).chain([path.len()]);
    let deepest = ends.map(|end| &path[..end]).filter(|name| modules.contains_key(*name)).last()?;
    let item = path[deepest.len()..].trim_start_matches("::").split("::").next().filter(|item| !item.is_empty());
    let handed =
        item.and_then(|item| modules[deepest].hands_on.iter().find(|handed| handed.ends_with(&format!("::{item}"))));
    handed.map_or_else(|| Some(deepest.to_owned()), |handed| file_of(handed, modules))
}

#[test]
fn no_files_import_one_another_in_a_circle() {
    let modules = modules();
    let mut left: BTreeMap<&str, BTreeSet<String>> = modules
        .iter()
        .map(|(module, file)| {
            let others = file.uses.iter().filter_map(|path| file_of(path, &modules)).filter(|other| other != module);
            (module.as_str(), others.collect())
        })
        .collect();
    while let Some(last) = left.iter().find(|(_, others)| others.is_empty()).map(|(name, _)| *name) {
        left.remove(last);
        left.values_mut().for_each(|others| {
            others.remove(last);
        });
    }
    // each that is left imports another that is left: whoever goes from one to the next comes back
    let mut way: Vec<&str> = left.keys().copied().take(1).collect();
    while let Some(next) = way.last().and_then(|at| left[at].first()) {
        if let Some(begun) = way.iter().position(|at| at == next) {
            panic!("these files import one another in a circle: {} → {next}", way[begun..].join(" → "));
        }
        way.push(next);
    }
}
