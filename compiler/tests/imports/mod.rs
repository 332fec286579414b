//! Which file of a crate imports from which: read off its `use` declarations, and off the paths that its text spells out.
//!
//! A name is followed to the file that defines it: what a `mod.rs` only passes on (`pub use`) is none of its own. Methods are
//! not followed, and tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The segments of a path, from the root of the crate.
type Segments = Vec<String>;

/// The files of a crate by their module paths.
pub struct Crate {
    files: BTreeMap<Segments, File>,
}

struct File {
    /// Below `src`.
    name: String,
    /// Without comments, tests and `use` declarations.
    text: String,
    uses: Vec<Use>,
}

struct Use {
    path: Segments,
    /// What the file calls it.
    alias: String,
    is_passed_on: bool,
}

impl Crate {
    /// Reads the files below a folder `src`.
    pub fn read(src: &Path) -> Self {
        let mut found = Vec::new();
        collect(src, src, &mut found);
        Self::of(found)
    }

    /// Of files by their names below `src`.
    pub fn of(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let kept = files.into_iter().filter(|(name, _)| name != "main.rs" && !name.ends_with("tests.rs"));
        Self { files: kept.map(|(name, text)| (module_of(&name), File::new(name, &text))).collect() }
    }

    /// A circle of files, each importing from the next; the last one is the first.
    pub fn circle(&self) -> Option<Vec<String>> {
        let edges: BTreeMap<&Segments, BTreeSet<Segments>> =
            self.files.iter().map(|(module, file)| (module, self.imports(module, file))).collect();
        let mut done = BTreeSet::new();
        let found = edges.keys().find_map(|&start| walk(start, &edges, &mut Vec::new(), &mut done))?;
        Some(found.iter().map(|module| self.files[module].name.clone()).collect())
    }

    /// Which top-level modules each file names, wherever what it names is defined: the file and the module.
    pub fn named(&self) -> BTreeSet<(String, String)> {
        let of = |module: &Segments, file: &File| {
            let paths = file.uses.iter().map(|one| one.path.clone()).chain(paths(&file.text));
            let roots = paths.filter_map(|path| self.absolute(module, &path).first().cloned());
            roots.map(|root| (file.name.clone(), root)).collect::<Vec<_>>()
        };
        self.files.iter().flat_map(|(module, file)| of(module, file)).collect()
    }

    /// A path in a module from the root of the crate; empty for one of another crate.
    fn absolute(&self, module: &Segments, path: &[String]) -> Segments {
        let heads = path.iter().take_while(|part| matches!(part.as_str(), "crate" | "self" | "super")).count();
        let (head, rest) = path.split_at(heads);
        let mut at = module.clone();
        for part in head {
            match part.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()),
                _ => {}
            }
        }
        at.extend(rest.first().cloned());
        if heads == 0 && !self.files.contains_key(&at) {
            return Vec::new();
        }
        at.extend(rest.iter().skip(1).cloned());
        at
    }

    /// The modules that a file imports from.
    fn imports(&self, module: &Segments, file: &File) -> BTreeSet<Segments> {
        let names: BTreeMap<&str, &Use> = file.uses.iter().map(|one| (one.alias.as_str(), one)).collect();
        let paths = paths(&file.text);
        let used: BTreeSet<&str> = paths.iter().filter_map(|path| path.first()).map(String::as_str).collect();
        let imported = file.uses.iter().filter(|one| !one.is_passed_on || used.contains(one.alias.as_str()));
        let mut found: BTreeSet<Segments> = imported.filter_map(|one| self.defines(module, &one.path)).collect();
        for path in paths.iter().filter(|path| path.len() > 1) {
            let whole = names.get(path[0].as_str()).map(|one| [&one.path, &path[1..]].concat());
            found.extend(self.defines(module, whole.as_ref().unwrap_or(path)));
        }
        found.remove(module);
        found
    }

    /// The module whose file defines what a path in a module names; None for a module itself, and for other crates.
    fn defines(&self, module: &Segments, path: &[String]) -> Option<Segments> {
        let mut at = Vec::new();
        let child = |at: &Segments, name: &String| Some([at.clone(), vec![name.clone()]].concat());
        for name in &self.absolute(module, path) {
            match child(&at, name).filter(|inner| self.files.contains_key(inner)) {
                Some(inner) => at = inner,
                None => {
                    let passed_on = self.files.get(&at)?.uses.iter().find(|one| one.alias == *name);
                    return passed_on.map_or_else(|| Some(at.clone()), |one| self.defines(&at, &one.path));
                }
            }
        }
        None
    }
}

/// A way from `at` back to one of `path`.
fn walk<'e>(
    at: &'e Segments,
    edges: &'e BTreeMap<&Segments, BTreeSet<Segments>>,
    path: &mut Vec<&'e Segments>,
    done: &mut BTreeSet<&'e Segments>,
) -> Option<Vec<Segments>> {
    if let Some(from) = path.iter().position(|known| *known == at) {
        return Some(path[from..].iter().copied().chain([at]).cloned().collect());
    }
    if !done.insert(at) {
        return None;
    }
    path.push(at);
    let found = edges[at].iter().find_map(|next| walk(next, edges, path, done));
    path.pop();
    found
}

impl File {
    fn new(name: String, text: &str) -> Self {
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
        let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
        let (mut uses, mut rest) = (Vec::new(), String::new());
        let mut open: Option<String> = None;
        for line in code {
            let is_use = line.split_whitespace().take(2).any(|word| word == "use");
            let is_declaration = line.ends_with(';') && line.split_whitespace().take(2).any(|word| word == "mod");
            if is_declaration {
                continue;
            }
            if open.is_none() && !is_use {
                rest.push_str(line);
                rest.push('\n');
                continue;
            }
            let gathered = open.take().unwrap_or_default() + " " + line.trim();
            if !gathered.contains(';') {
                open = Some(gathered);
                continue;
            }
            let is_passed_on = gathered.trim().starts_with("pub");
            let tree = gathered.split_once("use ").map_or("", |(_, tree)| tree);
            expand(&[], tree.trim().trim_end_matches(';'), &mut |path, alias| {
                uses.push(Use { path, alias, is_passed_on });
            });
        }
        Self { name, text: rest, uses }
    }
}

/// `a::{b, c::d as e}` as paths and the names they get.
fn expand(prefix: &[String], tree: &str, out: &mut dyn FnMut(Segments, String)) {
    let tree = tree.trim();
    let (head, group) = match tree.split_once('{') {
        Some((head, group)) => (head, group.strip_suffix('}')),
        None => (tree, None),
    };
    let (head, renamed) = head.split_once(" as ").map_or((head, None), |(head, name)| (head, Some(name)));
    let mut path = prefix.to_vec();
    path.extend(head.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned));
    let Some(group) = group else {
        if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
            path.pop();
        }
        let alias = renamed.or(path.last().map(String::as_str)).unwrap_or_default().trim().to_owned();
        return out(path, alias);
    };
    let (mut depth, mut start) = (0, 0);
    for (at, byte) in group.bytes().chain([b',']).enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                if !group[start..at].trim().is_empty() {
                    expand(&path, &group[start..at], out);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Every path in a text, as segments; of one word, too.
fn paths(text: &str) -> BTreeSet<Segments> {
    let is_part = |c: char| c == '_' || c == ':' || c.is_alphanumeric();
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches(':'));
    words.filter(|word| !word.is_empty()).map(|word| word.split("::").map(str::to_owned).collect()).collect()
}

fn module_of(name: &str) -> Segments {
    let stem = name.trim_end_matches(".rs");
    stem.split('/').filter(|part| !matches!(*part, "mod" | "lib")).map(str::to_owned).collect()
}

fn collect(root: &Path, folder: &Path, out: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).expect("a file below").to_string_lossy().replace('\\', "/");
            out.push((name, fs::read_to_string(&path).expect("a file")));
        }
    }
}
