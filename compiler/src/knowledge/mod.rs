//! What library calls do, read from `knowledge/*.toml`.
//!
//! A library is described by data, so that one can be added without reading Rust. A file has up to five kinds of tables;
//! in the first three, keys are the facts of `knowledge/facts.rs` and values are lists of names:
//!
//! - `[functions]`: dotted names of functions and classes. A trailing `.*` stands for everything below; the longest entry
//!   that matches decides, alone. A name that ends in one underscore also changes its first argument, and one that
//!   begins with a capital letter and matches only a `.*` is a class, whose objects hold what they are given.
//! - `[methods]`: names of methods of objects whose class is not known.
//! - `[classes."torch.optim.*"]`: names of methods of the objects of a class, or of all classes below; `*` stands for
//!   the methods that are not listed. What no entry covers is looked up under `[methods]`.
//! - `[makers]`: a class, and the functions that make objects of it.
//! - `[names]`: names that are known for one thing only; keys are those of `knowledge/lists.rs`.
//! - `[followed."transformers.trainer"]`: loops of a module of a library that are followed there (`followed.toml`).
//! - `[rewritten."lightning.…"]`: lines of such a module that are compiled in another form (the same file).
//!
//! A call that nothing covers is taken to change its receiver and all its arguments: list as `pure` only what surely
//! changes none of them. Random numbers drawn from the global generators need no entry of their own (they are in every
//! checkpoint); a method that is `random` changes its receiver.

mod facts;
mod followed;
mod lists;
mod read;

pub use facts::Facts;
pub use followed::{Followed, FollowedLoop};
pub use lists::List;

use crate::name::Name;
use lists::Lists;
use read::{Entry, read};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{self, StrDeserializer};
use std::cell::RefCell;
use std::sync::OnceLock;

/// Every knowledge file, by name.
const FILES: &[(&str, &str)] = &[
    ("builtins", include_str!("builtins.toml")),
    ("environments", include_str!("environments.toml")),
    ("followed", include_str!("followed.toml")),
    ("learning", include_str!("learning.toml")),
    ("methods", include_str!("methods.toml")),
    ("numpy", include_str!("numpy.toml")),
    ("output", include_str!("output.toml")),
    ("python", include_str!("python.toml")),
    ("questions", include_str!("questions.toml")),
    ("system", include_str!("system.toml")),
    ("torch", include_str!("torch.toml")),
    ("torch_nn", include_str!("torch_nn.toml")),
    ("torch_training", include_str!("torch_training.toml")),
    ("training", include_str!("training.toml")),
];

/// The knowledge base.
#[derive(Debug, Default)]
pub struct Knowledge {
    functions: FxHashMap<String, Facts>,
    prefixes: FxHashMap<String, Facts>,
    methods: FxHashMap<String, Facts>,
    classes: FxHashMap<String, FxHashMap<String, Facts>>,
    makers: FxHashMap<String, String>,
    lists: Lists,
    followed: FxHashMap<String, Followed>,
}

impl Knowledge {
    /// The knowledge that florc ships.
    pub fn shipped() -> &'static Self {
        static SHIPPED: OnceLock<Knowledge> = OnceLock::new();
        SHIPPED.get_or_init(|| {
            let mut all = Knowledge::default();
            for (name, text) in FILES {
                // The files are part of the binary and a test reads each of them: this cannot fail for a user.
                let added = all.add(text);
                debug_assert!(added.is_ok(), "knowledge/{name}.toml: {added:?}");
            }
            all
        })
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        for Entry { table, class, key, names } in read(text)? {
            match table {
                "functions" => {
                    for name in names {
                        let (table, name) = match name.strip_suffix(".*") {
                            Some(prefix) => (&mut self.prefixes, prefix),
                            None => (&mut self.functions, name),
                        };
                        table.entry(name.to_owned()).or_default().add(key)?;
                    }
                }
                "methods" => fill(&mut self.methods, key, &names)?,
                "classes" => fill(self.classes.entry(class.to_owned()).or_default(), key, &names)?,
                "makers" => self.makers.extend(names.into_iter().map(|made| (made.to_owned(), key.to_owned()))),
                "followed" | "followed-whole" => {
                    let is_whole = table == "followed-whole";
                    self.followed.entry(class.to_owned()).or_default().add(key, &names, is_whole)?;
                }
                "rewritten" => self.followed.entry(class.to_owned()).or_default().add_rewritten(&names)?,
                "names" => {
                    let key: StrDeserializer<value::Error> = key.into_deserializer();
                    self.lists.add(List::deserialize(key).map_err(|error| error.to_string())?, &names);
                }
                other => return Err(format!("unknown table `{other}`")),
            }
        }
        Ok(())
    }

    /// The loops of a module that are followed inside the library.
    pub fn followed(&self, module: &str) -> Option<&Followed> {
        self.followed.get(module)
    }

    /// Whether a list has a name.
    pub fn lists(&self, list: List, name: &str) -> bool {
        self.lists.has(list, name)
    }

    /// The names of a list, in no order.
    pub fn names(&self, list: List) -> impl Iterator<Item = &str> {
        self.lists.of(list)
    }

    /// What calling the function or class with this dotted name does; the longest matching entry decides.
    pub fn function(&self, dotted: &str) -> Option<Facts> {
        if let Some(facts) = self.functions.get(dotted) {
            return Some(*facts);
        }
        let facts = longest_prefix(dotted).find_map(|prefix| self.prefixes.get(prefix))?;
        let name = dotted.rsplit('.').next().unwrap_or(dotted);
        let is_class = name.starts_with(|first: char| first.is_ascii_uppercase());
        Some(Facts {
            mutates_first: facts.mutates_first || works_in_place(name),
            returns_arguments: facts.returns_arguments || is_class,
            ..*facts
        })
    }

    /// The same of a name that is asked for again and again.
    pub fn function_named(&'static self, dotted: Name) -> Option<Facts> {
        thread_local! {
            static ASKED: RefCell<FxHashMap<Name, Option<Facts>>> = RefCell::default();
        }
        ASKED.with_borrow_mut(|asked| *asked.entry(dotted).or_insert_with(|| self.function(&dotted)))
    }

    /// The class of what calling a dotted name makes.
    pub fn made_by<'n>(&'n self, dotted: &'n str) -> &'n str {
        self.makers.get(dotted).map_or(dotted, String::as_str)
    }

    /// Whether a dotted name is a class by itself.
    pub fn is_class(&self, dotted: &str) -> bool {
        self.classes.contains_key(dotted)
    }

    /// What calling a method with this name does, on an object of a library's class if that is known.
    pub fn method(&self, class: Option<&str>, name: &str) -> Option<Facts> {
        if let Some(class) = class
            && let Some(facts) = self.method_of(class, name)
        {
            return Some(facts);
        }
        if let Some(facts) = self.methods.get(name) {
            return Some(*facts);
        }
        let in_place = Facts { mutates_receiver: true, returns_receiver: true, ..Facts::default() };
        works_in_place(name).then_some(in_place)
    }

    fn method_of(&self, class: &str, name: &str) -> Option<Facts> {
        let all_below = longest_prefix(class).filter_map(|prefix| self.classes.get(&format!("{prefix}.*")));
        let mut tables = self.classes.get(class).into_iter().chain(all_below);
        tables.find_map(|table| table.get(name).or_else(|| table.get("*"))).copied()
    }
}

/// PyTorch's convention: a trailing underscore changes the tensor that comes first.
fn works_in_place(name: &str) -> bool {
    name.ends_with('_') && !name.ends_with("__")
}

/// `a.b` and `a` of `a.b.c`.
fn longest_prefix(dotted: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(dotted.rfind('.').map(|dot| &dotted[..dot]), |prefix| {
        prefix.rfind('.').map(|dot| &prefix[..dot])
    })
}

fn fill(table: &mut FxHashMap<String, Facts>, fact: &str, names: &[&str]) -> Result<(), String> {
    names.iter().try_for_each(|&name| table.entry(name.to_owned()).or_default().add(fact))
}

#[cfg(test)]
mod tests;
