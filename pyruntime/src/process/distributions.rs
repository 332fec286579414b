//! Which builds of libraries a process uses: a hash of what `RECORD` says of each distribution that a loaded module belongs to.
//! A version may be built twice.
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use pyo3::prelude::*;

/// Distribution and version -> hash.
type Builds = BTreeMap<String, String>;

/// What `*.dist-info/RECORD` says of the distributions of top-level modules, by the folder that these were loaded from: another folder
/// may hold another build of one. Takes some milliseconds.
#[pyfunction]
pub fn distributions(py: Python<'_>, installed: BTreeMap<String, HashSet<String>>) -> Builds {
    py.detach(|| installed.iter().flat_map(|(folder, modules)| of_folder(Path::new(folder), modules)).collect())
}

fn of_folder(folder: &Path, modules: &HashSet<String>) -> Builds {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let build = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let distribution = name.strip_suffix(".dist-info")?.replacen('-', " ", 1);
        let record = fs::read_to_string(entry.path().join("RECORD")).ok()?;
        Some((distribution, hash_of(&record, modules)?))
    };
    entries.filter_map(build).collect()
}

/// Of the files that come with the distribution: not of what is made where it is installed. None where it holds none of the modules.
fn hash_of(record: &str, modules: &HashSet<String>) -> Option<String> {
    let comes_along = |line: &&str| {
        let path = line.split(',').next().unwrap_or_default();
        !path.starts_with("../") && !path.contains("__pycache__/") && !path.contains(".dist-info/")
    };
    let mut lines: Vec<&str> = record.lines().filter(comes_along).collect();
    let is_loaded = lines.iter().any(|line| modules.contains(line.split(['/', '.', ',']).next().unwrap_or_default()));
    if !is_loaded {
        return None;
    }
    lines.sort_unstable();
    Some(blake3::hash(lines.join("\n").as_bytes()).to_hex()[..16].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_comes_with_a_distribution_of_a_loaded_module_counts() {
        let modules = HashSet::from(["sklearn".to_owned(), "six".to_owned()]);
        let record = "sklearn/a.py,sha256=x,1\n../../bin/tool,sha256=y,2\nsklearn/__pycache__/a.pyc,,\nscikit_learn-1.dist-info/RECORD,,\n";
        let known = hash_of(record, &modules);
        assert!(known.is_some());
        let elsewhere = "sklearn/a.py,sha256=x,1\n../../bin/tool,sha256=z,2\n";
        assert_eq!(hash_of(elsewhere, &modules), known);
        assert_ne!(hash_of("sklearn/a.py,sha256=w,1\n", &modules), known);
        assert!(hash_of("six.py,sha256=x,1\n", &modules).is_some());
        assert_eq!(hash_of("other/a.py,sha256=x,1\n", &modules), None);
    }
}
