//! Reads a knowledge file. What is read is TOML, of which these files use little: tables, and lists of strings without escapes.
//! All of a run's start-up waits for it, and a whole TOML parser takes four times as long; a test compares the two.

/// A list of names: the table that it is in, its key, the names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry<'t> {
    /// `functions` of `[functions]`.
    pub table: &'t str,
    /// `torch.optim.*` of `[classes."torch.optim.*"]`; else empty.
    pub class: &'t str,
    pub key: &'t str,
    pub names: Vec<&'t str>,
}

/// Every list of a file, in order.
///
/// # Errors
/// What is not understood.
pub(super) fn read(text: &str) -> Result<Vec<Entry<'_>>, String> {
    let mut found = Vec::new();
    let (mut table, mut class) = ("", "");
    let mut rest = blanks(text);
    while let Some(first) = rest.chars().next() {
        if first == '[' {
            let (head, behind) = rest[1..].split_once(']').ok_or_else(|| bad(rest))?;
            (table, class) = match head.split_once('.') {
                Some((table, quoted)) => (table, string(quoted).ok_or_else(|| bad(rest))?.0),
                None => (head, ""),
            };
            rest = blanks(behind);
            continue;
        }
        let (key, behind) = rest.split_once('=').ok_or_else(|| bad(rest))?;
        let key = key.trim();
        let key = string(key).map_or(key, |(key, _)| key);
        let (names, behind) = list(blanks(behind)).ok_or_else(|| bad(rest))?;
        found.push(Entry { table, class, key, names });
        rest = blanks(behind);
    }
    Ok(found)
}

fn bad(rest: &str) -> String {
    format!("not understood: `{}`", rest.lines().next().unwrap_or_default())
}

/// What is behind blanks, line ends and comments.
fn blanks(text: &str) -> &str {
    let text = text.trim_start();
    match text.strip_prefix('#') {
        Some(comment) => blanks(comment.split_once('\n').map_or("", |(_, behind)| behind)),
        None => text,
    }
}

/// A string, and what is behind it.
fn string(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('"')?.split_once('"').filter(|(inner, _)| !inner.contains(['\\', '\n']))
}

/// A list of strings, and what is behind it.
fn list(text: &str) -> Option<(Vec<&str>, &str)> {
    let mut names = Vec::new();
    let mut rest = blanks(text.strip_prefix('[')?);
    loop {
        if let Some(behind) = rest.strip_prefix(']') {
            return Some((names, behind));
        }
        let (name, behind) = string(rest)?;
        names.push(name);
        rest = blanks(behind);
        match rest.strip_prefix(',') {
            Some(behind) => rest = blanks(behind),
            None if rest.starts_with(']') => {}
            None => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::knowledge::FILES;

    /// The lists of a file as the TOML crate reads them.
    fn by_the_book(text: &str) -> Vec<(String, String, String, Vec<String>)> {
        let names = |list: &toml::Value| -> Vec<String> {
            list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
        };
        let mut found = Vec::new();
        for (table, lists) in toml::from_str::<toml::Table>(text).unwrap() {
            for (key, value) in lists.as_table().unwrap() {
                match value.as_table() {
                    Some(inner) => found.extend(
                        inner.iter().map(|(fact, list)| (table.clone(), key.clone(), fact.clone(), names(list))),
                    ),
                    None => found.push((table.clone(), String::new(), key.clone(), names(value))),
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn what_is_read_is_what_toml_says() {
        for (name, text) in FILES {
            let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
            let entries = read(text).unwrap_or_else(|error| panic!("{name}.toml: {error}"));
            let mut found: Vec<(String, String, String, Vec<String>)> = entries
                .into_iter()
                .map(|entry| (entry.table.to_owned(), entry.class.to_owned(), entry.key.to_owned(), owned(entry.names)))
                .collect();
            found.sort();
            assert_eq!(found, by_the_book(text), "{name}.toml");
        }
    }

    #[test]
    fn other_toml_is_refused() {
        for text in
            ["[a", "x", "x = 1", "x = [1]", "x = [\"a\" \"b\"]", "x = [\"a\\n\"]", "x = [\"a\"", "[a.b]\nx = []"]
        {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read("# nothing\n").unwrap().is_empty() && read("").unwrap().is_empty());
    }
}
