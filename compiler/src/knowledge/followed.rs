//! Loops inside libraries that are followed as the user's are.

/// A module of a library whose loops train.
#[derive(Debug, Default)]
pub struct Followed {
    /// The distribution that it comes with, the first version that this was tried with, and the first that it was not.
    pub versions: [String; 3],
    /// Lines in a row, each with what is compiled in its place: the first that are found, once, in the module's text.
    pub rewritten: Vec<Vec<(String, String)>>,
    loops: Vec<FollowedLoop>,
}

/// A loop of it.
#[derive(Debug)]
pub struct FollowedLoop {
    function: String,
    header: String,
    /// The names of its function that reach all that it changes.
    pub changes: Vec<String>,
    /// Whether no replay goes on in the middle of it.
    pub is_whole: bool,
}

impl Followed {
    /// What is known of a loop; None of one that is not followed.
    pub fn entry(&self, function: &str, header: &str) -> Option<&FollowedLoop> {
        self.loops.iter().find(|entry| entry.function == function && header.starts_with(&entry.header))
    }

    pub(super) fn add_rewritten(&mut self, names: &[&str]) -> Result<(), String> {
        let (pairs, []) = names.as_chunks::<2>() else { return Err("a line without another in its place".to_owned()) };
        self.rewritten.push(pairs.iter().map(|[old, new]| ((*old).to_owned(), (*new).to_owned())).collect());
        Ok(())
    }

    pub(super) fn add(&mut self, key: &str, names: &[&str], is_whole: bool) -> Result<(), String> {
        let owned = |name: &&str| (*name).to_owned();
        if key == "versions" {
            let found: Vec<String> = names.iter().map(owned).collect();
            self.versions = found.try_into().map_err(|_| "versions: a distribution and two versions".to_owned())?;
            return Ok(());
        }
        let (function, header) = key.split_once(": ").ok_or_else(|| format!("{key}: a function and a header"))?;
        let (function, header) = (function.to_owned(), header.to_owned());
        self.loops.push(FollowedLoop { function, header, changes: names.iter().map(owned).collect(), is_whole });
        Ok(())
    }
}
