//! `florc._native.Changes`: what is different in a file since it was recorded, as a value.
use std::collections::BTreeMap;

use florc::probes::{self, Report};
use pyo3::prelude::*;

/// What changed in a file, and what that reaches.
#[derive(Clone)]
#[pyclass(frozen, get_all, module = "florc._native")]
pub struct Changes {
    module: String,
    changes: Vec<Change>,
    /// Loops that hold or reach an added statement, and why that is known.
    probed: BTreeMap<String, String>,
    /// Functions that run an added statement.
    entered: Vec<Function>,
}

/// One change.
#[pyclass(frozen, get_all, module = "florc._native")]
#[derive(Clone)]
pub struct Change {
    file: String,
    kind: &'static str,
    line: usize,
    end_line: usize,
    removed: bool,
    edited: bool,
    text: String,
    loops: Vec<String>,
    why: Option<String>,
    can_be_seen: bool,
    unbound: Vec<String>,
}

/// A function of the recorded project.
#[pyclass(frozen, get_all, eq, ord, hash, from_py_object, module = "florc._native")]
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function {
    pub file: String,
    pub line: usize,
    pub name: String,
}

impl Changes {
    /// `file`: its path; `modules`: the reports of all modules that it is.
    pub fn new<'r>(file: &str, report: &Report, modules: impl Iterator<Item = &'r Report>) -> Self {
        let change = |change: &probes::Change| Change {
            file: file.to_owned(),
            kind: change.kind.name(),
            line: change.line,
            end_line: change.end_line,
            removed: change.removed,
            edited: change.why == Some(probes::Apart::Edited),
            text: change.text.clone(),
            loops: change.loops.clone(),
            why: change.why.as_ref().map(ToString::to_string),
            can_be_seen: change.can_be_seen,
            unbound: change.unbound.clone(),
        };
        let function = |found: &probes::Function| Function {
            file: found.file.clone(),
            line: found.line,
            name: found.name.clone(),
        };
        let mut found = Self {
            module: report.name.clone(),
            changes: report.changes.iter().map(change).collect(),
            probed: BTreeMap::new(),
            entered: Vec::new(),
        };
        for module in modules {
            found.probed.extend(module.probed.clone());
            found.entered.extend(module.entered.iter().map(function));
        }
        found
    }
}

impl From<Function> for probes::Function {
    fn from(function: Function) -> Self {
        Self { file: function.file, line: function.line, name: function.name }
    }
}
