//! The names that emitted code uses of the runtime, spelled once. A test asserts that the Python package has them.

/// Every name, as an attribute path of the package.
pub const NAMES: &[&str] = &[
    GENERATOR, LOOP, TICK, OVER, LEFT, STEP_INTO, END, RESTORE, BEGIN, BOUNDARY, RESUME, UNBOUND, PROBE, PROBED,
    OBSERVED, ENTERED,
];

pub(super) const GENERATOR: &str = "generator";
pub(super) const LOOP: &str = "loop";
pub(super) const TICK: &str = "tick";
pub(super) const OVER: &str = "over";
pub(super) const LEFT: &str = "left";
pub(super) const STEP_INTO: &str = "skipblock.step_into";
pub(super) const END: &str = "skipblock.end";
pub(super) const RESTORE: &str = "skipblock.restore";
pub(super) const BEGIN: &str = "begin";
pub(super) const BOUNDARY: &str = "boundary";
pub(super) const RESUME: &str = "resume";
pub(super) const UNBOUND: &str = "unbound";
pub(super) const PROBE: &str = "probe";
pub(super) const PROBED: &str = "probed";
pub(super) const OBSERVED: &str = "observed";
pub(super) const ENTERED: &str = "entered";

/// What the package is called in emitted code.
pub(super) const ALIAS: &str = "_florc";

/// `_florc`, or `_florc2`, … when the file mentions that name.
pub(super) fn free_alias(text: &str) -> String {
    std::iter::once(ALIAS.to_owned())
        .chain((2..).map(|n| format!("{ALIAS}{n}")))
        .find(|alias| !mentions(text, alias))
        .unwrap_or_default()
}

fn mentions(text: &str, word: &str) -> bool {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::free_alias;

    #[test]
    fn the_alias_is_free() {
        assert_eq!(free_alias("import florc\n"), "_florc");
        assert_eq!(free_alias("_florc = 1\n"), "_florc2");
        assert_eq!(free_alias("my_florc = 1\n"), "_florc");
    }
}
