//! Where things are in a store, and which names may be used in it.
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::durable::{create_dirs, read_small, write_whole};
use super::error::{Result, StoreError};

/// The newest store format that this code reads and the one that it writes.
pub const FORMAT: u64 = 1;
/// What `store.json` holds.
const MARKER: &str = r#"{"format": 1}"#;
const NAME_LIMIT: usize = 128;

/// An opened store.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// A run's name inside a store, or a replay's (`<run>/replays/<id>`), checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunId(String);

impl RunId {
    /// Checks a run's name: letters, digits, `.`, `_`, `-`, at most 128 of them, the first no dot.
    ///
    /// # Errors
    /// When the name could leave the store or does not fit its formats.
    pub fn new(name: &str) -> Result<RunId> {
        let parts: Vec<&str> = name.split('/').collect();
        match parts[..] {
            [run] => check_name("a run id", run)?,
            [run, "replays", replay] => {
                check_name("a run id", run)?;
                check_name("a replay id", replay)?;
            }
            _ => {
                return Err(bad("a run id", name, "it may only be <run> or <run>/replays/<replay>"));
            }
        }
        Ok(RunId(name.to_string()))
    }

    /// The name as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the names of this run's packs begin with; no other run or rank shares it.
    pub fn pack_prefix(&self, rank: u32) -> String {
        // `~` is in no checked name, so a replay never takes the name of a run
        format!("{}-{rank}-", self.0.replace("/replays/", "~"))
    }
}

fn bad(what: &'static str, name: &str, why: &'static str) -> StoreError {
    StoreError::BadName { what, name: name.to_string(), why }
}

fn check_name(what: &'static str, name: &str) -> Result<()> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.len() > NAME_LIMIT {
        Err(bad(what, name, "it must have 1 to 128 characters"))
    } else if !name.chars().all(allowed) {
        Err(bad(what, name, "only letters, digits, '.', '_' and '-' are allowed"))
    } else if name.starts_with('.') {
        Err(bad(what, name, "it must not begin with a dot"))
    } else {
        Ok(())
    }
}

impl Store {
    /// Opens a store, creating what is missing of it.
    ///
    /// # Errors
    /// When a file cannot be created, or the store has a newer format.
    pub fn create(root: &Path) -> Result<Store> {
        create_dirs(root)?;
        if !root.join("store.json").exists() {
            write_whole(&root.join(".gitignore"), b"*\n")?;
            create_dirs(&root.join("packs"))?;
            create_dirs(&root.join("runs"))?;
            // last: a store exists once it says its format
            write_whole(&root.join("store.json"), format!("{MARKER}\n").as_bytes())?;
        }
        let store = Store::open(root)?;
        create_dirs(&store.packs())?;
        create_dirs(&store.root.join("runs"))?;
        Ok(store)
    }

    /// Opens a store that exists.
    ///
    /// # Errors
    /// When the folder is no store, or has a newer format.
    pub fn open(root: &Path) -> Result<Store> {
        // absolute, because user code may change the working directory
        let root = root.canonicalize().map_err(StoreError::io("open the store", root))?;
        let marker = root.join("store.json");
        let not_a_store = |why: String| StoreError::NotAStore { path: root.clone(), why };
        let unreadable =
            |why: String| not_a_store(format!("store.json is damaged: {why}; it holds {MARKER}: write that into it"));
        let text = read_small(&marker, 4096).map_err(|error| unreadable(error.to_string()))?;
        let found: serde_json::Value = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        match found.get("format").and_then(serde_json::Value::as_u64) {
            Some(format) if format > FORMAT => {
                Err(StoreError::NewerFormat { path: marker, found: format, known: FORMAT })
            }
            Some(format) if format >= 1 => Ok(Store { root }),
            _ => Err(unreadable("it has no format number".to_string())),
        }
    }

    /// The store's folder, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of packs.
    pub fn packs(&self) -> PathBuf {
        self.root.join("packs")
    }

    /// A run's folder.
    ///
    /// # Errors
    /// When a link in the store would lead outside it.
    pub fn run_dir(&self, run: &RunId) -> Result<PathBuf> {
        self.inside(&format!("runs/{}", run.as_str()))
    }

    /// The journal of one rank of a run.
    ///
    /// # Errors
    /// When a link in the store would lead outside it.
    pub fn journal(&self, run: &RunId, rank: u32) -> Result<PathBuf> {
        self.inside(&format!("runs/{}/journal.{rank}", run.as_str()))
    }

    /// A path below the store's folder.
    ///
    /// # Errors
    /// When the path is absolute, climbs with `..`, or passes through a symbolic link.
    pub fn inside(&self, relative: &str) -> Result<PathBuf> {
        let what = "a path in the store";
        let mut path = self.root.clone();
        for component in Path::new(relative).components() {
            let Component::Normal(name) = component else {
                return Err(bad(what, relative, "it must stay below the store's folder"));
            };
            path.push(name);
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
                return Err(bad(what, relative, "it passes through a symbolic link"));
            }
        }
        if path == self.root {
            return Err(bad(what, relative, "it is empty"));
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests;
