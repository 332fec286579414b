//! The files read, and say what they are meant to say.

use super::read::read;
use super::{FILES, Knowledge, List};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{self, StrDeserializer};
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
        let are_facts = |table: &str| !matches!(table, "makers" | "names" | "rewritten");
        for entry in read(text).expect("a knowledge file").iter().filter(|entry| are_facts(entry.table)) {
            let different: BTreeSet<&str> = entry.names.iter().copied().collect();
            assert_eq!(
                different.len(),
                entry.names.len(),
                "{name}.toml lists something twice under {}: {entry:?}",
                entry.key
            );
        }
    }
}

#[test]
fn what_is_pure_changes_nothing() {
    for (name, text) in FILES {
        let entries = read(text).expect("a knowledge file");
        let beside = |table: &str, class: &str, fact: &str, pure: &str| {
            entries.iter().any(|entry| {
                entry.table == table && entry.class == class && entry.key == fact && entry.names.contains(&pure)
            })
        };
        for entry in entries.iter().filter(|entry| entry.key == "pure") {
            for pure in &entry.names {
                for fact in ["mutates-receiver", "mutates-arguments", "mutates-first", "consumes-first", "unknowable"] {
                    let both = beside(entry.table, entry.class, fact, pure);
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
        for entry in read(text).expect("a knowledge file").iter().filter(|entry| entry.table == "names") {
            let key: StrDeserializer<value::Error> = entry.key.into_deserializer();
            let list = format!("{:?}", List::deserialize(key).expect("a list"));
            for &listed in &entry.names {
                let is_new = found.insert((list.clone(), listed.to_owned()));
                assert!(is_new, "{name}.toml: {listed} is under {list} a second time");
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
