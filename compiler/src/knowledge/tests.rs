//! The files read, and say what they are meant to say.

use super::{FILES, File, Knowledge};
use std::collections::BTreeSet;

#[test]
fn every_file_says_what_it_covers() {
    for (name, text) in FILES {
        assert!(text.starts_with("# "), "{name}.toml begins with a comment that says what it covers");
        assert!(text.lines().count() <= 160, "{name}.toml can be read in one sitting");
    }
}

#[test]
fn every_entry_names_facts_that_exist_and_is_not_listed_twice_under_one() {
    for (name, text) in FILES {
        Knowledge::default().add(text).unwrap_or_else(|error| panic!("{name}.toml: {error}"));
        let file: File = toml::from_str(text).expect("valid TOML");
        for (fact, names) in file.functions.iter().chain(&file.methods).chain(file.classes.values().flatten()) {
            let different: BTreeSet<&String> = names.iter().collect();
            assert_eq!(different.len(), names.len(), "{name}.toml lists something twice under {fact}: {names:?}");
        }
    }
}

#[test]
fn what_is_pure_changes_nothing() {
    for (name, text) in FILES {
        let file: File = toml::from_str(text).expect("valid TOML");
        for lists in [&file.functions, &file.methods].into_iter().chain(file.classes.values()) {
            for pure in lists.get("pure").into_iter().flatten() {
                for fact in ["mutates-receiver", "mutates-arguments", "mutates-first", "consumes-first", "unknowable"] {
                    let both = lists.get(fact).is_some_and(|names| names.contains(pure));
                    assert!(!both, "{name}.toml: {pure} is listed as pure and as {fact}");
                }
            }
        }
    }
}

#[test]
fn the_longest_entry_decides() {
    let known = Knowledge::shipped();
    assert!(known.function("torch.nn.functional.relu").is_some_and(|facts| !facts.mutates_first));
    assert!(known.function("torch.nn.init.xavier_uniform_").is_some_and(|facts| facts.mutates_first));
    assert!(known.function("torch.distributed.all_reduce").is_some_and(|facts| facts.mutates_first));
    assert!(known.function("torch.distributed.something_new").is_none_or(|facts| facts.mutates_arguments));
    assert!(known.function("builtins.print").is_some_and(|facts| facts.external && facts.cheap));
    assert!(known.function("torch.utils.data.DataLoader").is_some_and(|facts| facts.returns_arguments));
    assert!(known.function("somewhere.else").is_none());
}

#[test]
fn methods_are_those_of_the_class_where_it_is_known() {
    let known = Knowledge::shipped();
    assert!(known.method(None, "add_").is_some_and(|facts| facts.mutates_receiver));
    assert!(known.method(None, "requires_grad_").is_some_and(|facts| facts.mutates_receiver));
    assert!(known.method(None, "item").is_some_and(|facts| !facts.mutates_receiver));
    assert!(known.method(None, "train_one_batch").is_none());
    assert!(known.method(None, "step").is_some_and(|facts| facts.mutates_arguments), "a GradScaler steps its argument");
    let scheduler = known.made_by("torch.optim.lr_scheduler.StepLR");
    assert!(known.method(Some(scheduler), "step").is_some_and(|facts| !facts.mutates_arguments));
    let rng = known.made_by("numpy.random.default_rng");
    assert!(known.method(Some(rng), "shuffle").is_some_and(|facts| facts.mutates_receiver && facts.mutates_first));
    assert!(known.method(Some("queue.Queue"), "get").is_some_and(|facts| facts.mutates_receiver));
    assert!(known.method(None, "get").is_some_and(|facts| !facts.mutates_receiver));
}

#[test]
fn every_list_of_names_has_some_and_each_name_once() {
    let mut found: BTreeSet<(String, String)> = BTreeSet::new();
    for (name, text) in FILES {
        let file: File = toml::from_str(text).expect("valid TOML");
        for (list, names) in &file.names {
            for listed in names {
                assert!(
                    found.insert((format!("{list:?}"), listed.clone())),
                    "{name}.toml: {listed} is under {list:?} a second time"
                );
            }
        }
    }
    let lists: BTreeSet<&String> = found.iter().map(|(list, _)| list).collect();
    let described = include_str!("lists.rs").split("pub enum List {").nth(1).expect("the enum");
    let described = described.split("\n}").next().expect("its end").lines().filter(|line| line.ends_with(','));
    for list in described {
        assert!(lists.contains(&list.trim().trim_end_matches(',').to_owned()), "no file has names for {list}");
    }
}

/// Applies a diff without line numbers: each hunk's lines, without the added ones, stand in the text; `…` divides hunks.
fn patched(text: &str, diff: &str) -> String {
    diff.split("…\n").fold(text.to_owned(), |text, hunk| {
        let side = |dropped: char| -> String {
            let lines = hunk.lines().filter(|line| !line.starts_with(dropped));
            lines.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect()
        };
        let (before, after) = (side('+'), side('-'));
        assert_eq!(text.matches(&before).count(), 1, "the file has these lines once:\n{before}");
        text.replace(&before, &after)
    })
}

#[test]
fn the_example_of_the_page_on_extending_can_be_followed() {
    let page = include_str!("../../../docs/extending.md");
    let diff = page.split("```diff\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a diff");
    let (_, learning) = FILES.iter().find(|(name, _)| *name == "learning").expect("the file that the page names");
    let mut known = Knowledge::default();
    known.add(learning).expect("valid TOML");
    assert!(known.function("lumen.whiten").is_none(), "the page speaks of a library that florc does not know");
    let mut known = Knowledge::default();
    known.add(&patched(learning, diff)).expect("valid TOML");
    let facts = |name: &str| known.function(name).expect("the page adds it");
    assert!(!facts("lumen.whiten").mutates_first && !facts("lumen.whiten").mutates_arguments);
    assert!(facts("lumen.accumulate").mutates_first && !facts("lumen.accumulate").mutates_arguments);
}
