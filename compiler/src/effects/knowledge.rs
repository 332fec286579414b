//! What library calls do, read from `knowledge/*.toml`.
//!
//! A library is described by data, so that one can be added without reading Rust: each file has a table `functions`
//! (dotted names; a trailing `*` stands for everything below) and a table `methods` (names of methods whose receiver's
//! class is not known). Keys of both are the facts below, values are lists of names.

use serde::Deserialize;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Every knowledge file, by name.
const FILES: &[(&str, &str)] = &[
    ("builtins", include_str!("knowledge/builtins.toml")),
    ("methods", include_str!("knowledge/methods.toml")),
    ("numpy", include_str!("knowledge/numpy.toml")),
    ("output", include_str!("knowledge/output.toml")),
    ("python", include_str!("knowledge/python.toml")),
    ("torch", include_str!("knowledge/torch.toml")),
];

/// What calling something does to the objects it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Facts {
    /// The receiver changes.
    pub mutates_receiver: bool,
    /// Every argument changes.
    pub mutates_arguments: bool,
    /// The first argument changes.
    pub mutates_first: bool,
    /// The first argument is an iterator that is advanced.
    pub consumes_first: bool,
    /// The result is, or holds, the receiver or a part of it.
    pub returns_receiver: bool,
    /// The result is, or holds, the arguments or parts of them.
    pub returns_arguments: bool,
    /// Something is printed, written, shown or sent.
    pub external: bool,
    /// A generator of random numbers advances.
    pub random: bool,
    /// The result depends on the time of day.
    pub clock: bool,
    /// Gradients are written or read.
    pub gradients: bool,
    /// Names or attributes change that analysis cannot follow.
    pub unknowable: bool,
    /// A class whose objects, when called, change nothing.
    pub stateless: bool,
    /// So cheap that a loop of nothing else is not worth skipping.
    pub cheap: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    functions: HashMap<String, Vec<String>>,
    #[serde(default)]
    methods: HashMap<String, Vec<String>>,
}

/// The knowledge base.
#[derive(Debug)]
pub struct Knowledge {
    functions: HashMap<String, Facts>,
    prefixes: HashMap<String, Facts>,
    methods: HashMap<String, Facts>,
}

impl Knowledge {
    /// The knowledge that florc ships.
    pub fn shipped() -> &'static Self {
        static SHIPPED: OnceLock<Knowledge> = OnceLock::new();
        SHIPPED.get_or_init(|| {
            let mut all = Knowledge { functions: HashMap::new(), prefixes: HashMap::new(), methods: HashMap::new() };
            for (name, text) in FILES {
                // The files are part of the binary and a test reads each of them: this cannot fail for a user.
                if let Err(error) = all.add(text) {
                    panic!("effects/knowledge/{name}.toml: {error}");
                }
            }
            all
        })
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        for (fact, names) in file.functions {
            for name in names {
                let (table, key) = match name.strip_suffix('*') {
                    Some(prefix) => (&mut self.prefixes, prefix.trim_end_matches('.').to_owned()),
                    None => (&mut self.functions, name),
                };
                set(table.entry(key).or_default(), &fact)?;
            }
        }
        for (fact, names) in file.methods {
            for name in names {
                set(self.methods.entry(name).or_default(), &fact)?;
            }
        }
        Ok(())
    }

    /// What calling the function or class with this dotted name does; the longest matching entry decides.
    pub fn function(&self, dotted: &str) -> Option<Facts> {
        if let Some(facts) = self.functions.get(dotted) {
            return Some(*facts);
        }
        // PyTorch's and NumPy's convention: a trailing underscore changes the first argument.
        let mut prefix = dotted;
        while let Some(dot) = prefix.rfind('.') {
            prefix = &prefix[..dot];
            if let Some(facts) = self.prefixes.get(prefix) {
                let in_place = dotted.ends_with('_') && !dotted.ends_with("__");
                return Some(Facts { mutates_first: facts.mutates_first || in_place, ..*facts });
            }
        }
        None
    }

    /// What calling a method with this name does when nothing is known of the receiver's class.
    pub fn method(&self, name: &str) -> Option<Facts> {
        if let Some(facts) = self.methods.get(name) {
            return Some(*facts);
        }
        let in_place = name.ends_with('_') && !name.ends_with("__");
        in_place.then_some(Facts { mutates_receiver: true, returns_receiver: true, ..Facts::default() })
    }
}

fn set(facts: &mut Facts, fact: &str) -> Result<(), String> {
    match fact {
        "pure" => {}
        "cheap" => facts.cheap = true,
        "mutates-receiver" => facts.mutates_receiver = true,
        "mutates-arguments" => facts.mutates_arguments = true,
        "mutates-first" => facts.mutates_first = true,
        "consumes-first" => facts.consumes_first = true,
        "returns-receiver" => facts.returns_receiver = true,
        "returns-arguments" => facts.returns_arguments = true,
        "external" => facts.external = true,
        "random" => facts.random = true,
        "clock" => facts.clock = true,
        "gradients" => facts.gradients = true,
        "stateless" => facts.stateless = true,
        "unknowable" => facts.unknowable = true,
        other => return Err(format!("unknown fact `{other}`")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Knowledge;

    #[test]
    fn every_file_reads_and_the_longest_entry_decides() {
        let known = Knowledge::shipped();
        assert!(known.function("torch.nn.functional.relu").is_some_and(|facts| !facts.mutates_first));
        assert!(known.function("torch.nn.init.xavier_uniform_").is_some_and(|facts| facts.mutates_first));
        assert!(known.function("builtins.print").is_some_and(|facts| facts.external && facts.cheap));
        assert!(known.function("somewhere.else").is_none());
        assert!(known.method("add_").is_some_and(|facts| facts.mutates_receiver));
        assert!(known.method("item").is_some_and(|facts| !facts.mutates_receiver));
        assert!(known.method("train_one_batch").is_none());
    }
}
