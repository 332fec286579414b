//! The files of the user's project, analysed together.
use florc::analysis::Analysis;
use florc::ids::StmtId;
use florc::probes::loops_that_enter;
use florc::project::{Codebase, Found, follow, variables};
use florc::syntax::File;
use florc::{Options, Plan, Source};
use pyo3::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

use super::compile::{FileParts, Instrumented, deep, instrumented};
use super::library::{Library, parse};
use crate::guard::panics::guard;
use crate::nest::entered;

/// A file that is met when the others are analysed already has them analysed again, with it: until this much text was, in bytes.
const MOST_ANALYSED: usize = 64 << 20;

/// The files of the user's project, analysed together.
#[pyclass(module = "florc._native")]
pub struct Project {
    pub(super) codebase: Codebase,
    /// One per file; empty while it is not known.
    plans: Vec<Plan>,
    /// How much text was analysed so far, in bytes: what was analysed again counts again.
    analysed: usize,
    /// Files met when more than [`MOST_ANALYSED`] bytes would have been: each is analysed alone.
    pub(super) alone: Vec<File>,
    /// Files of libraries in which loops are followed: no part of the project, each analysed alone.
    pub(super) libraries: Vec<Library>,
    find: Py<PyAny>,
    /// With FLORC_DEBUG, by the numbers of `def` statements: the loops that the call graph says may enter a function.
    foreseen: BTreeMap<StmtId, BTreeSet<String>>,
}

#[pymethods]
impl Project {
    /// An empty project. `find(dotted name)` returns (path, is a package, text) of a module of the project, or None; an
    /// exception says why its file cannot be read.
    #[new]
    fn new(find: Py<PyAny>) -> Self {
        Self {
            codebase: Codebase::of(Vec::new()),
            plans: Vec::new(),
            analysed: 0,
            alone: Vec::new(),
            libraries: Vec::new(),
            find,
            foreseen: BTreeMap::new(),
        }
    }

    /// Adds a file, or its present text, and every module that it imports. Raises SyntaxError when it is not Python.
    fn add(&mut self, py: Python<'_>, module: &str, package: &str, path: &str, text: &str) -> PyResult<()> {
        let file = deep(py, || parse(module, package, path, text))?;
        let is_known = self.codebase.files.iter().any(|known| known.name == module);
        // what the script imports by name is analysed in one go, however much it is
        let is_late = self.analysed > 0 && self.analysed + self.codebase.bytes() > MOST_ANALYSED;
        if !is_known && is_late {
            self.alone.retain(|known| known.name != module);
            self.alone.push(file);
            return Ok(());
        }
        let mut files = std::mem::replace(&mut self.codebase, Codebase::of(Vec::new())).files;
        match files.iter_mut().find(|known| known.name == module) {
            Some(known) => *known = file,
            None => files.push(file),
        }
        self.plans = Vec::new();
        self.codebase = guard(|| Ok(follow(files, &mut |dotted| found(py, &self.find, dotted))))?;
        Ok(())
    }

    /// Adds a file of a library in which loops are followed, or its present text. Raises SyntaxError when it is not Python.
    fn add_library(&mut self, py: Python<'_>, module: &str, package: &str, path: &str, text: &str) -> PyResult<()> {
        let library = deep(py, || Library::parse(module, package, path, text))?;
        self.libraries.retain(|known| known.file.name != module);
        self.libraries.push(library);
        Ok(())
    }

    /// The text of a library's file as it was installed when it was analysed; None for others.
    fn library_text(&self, path: &str) -> Option<&str> {
        self.library(path).map(Library::text)
    }

    /// The files: name as a module, package, path, text.
    fn files(&self) -> Vec<FileParts> {
        let files = self.codebase.files.iter().chain(&self.alone);
        files.map(|f| (f.name.clone(), f.package.clone(), f.source.name.clone(), f.source.text.clone())).collect()
    }

    /// The text of a file as it was analysed; None for files that are not part of the project.
    fn text(&self, path: &str) -> Option<&str> {
        let mut files = self.codebase.files.iter().chain(&self.alone);
        files.find(|file| file.source.name == path).map(|file| file.source.text.as_str())
    }

    /// The environment variables that the files name.
    fn variables(&self, py: Python<'_>) -> PyResult<BTreeSet<String>> {
        let files = self.codebase.files.iter().chain(&self.alone).map(|file| &file.module);
        deep(py, || Ok(variables(files).into_iter().map(str::to_owned).collect()))
    }

    /// With FLORC_DEBUG: by the number that a function of a file tells, its name and the loops that may enter it according to the call
    /// graph. Functions of which it knows nothing are missing.
    fn foreseen(&self, path: &str) -> BTreeMap<usize, (String, BTreeSet<String>)> {
        let plan = self.file(path).and_then(|at| self.plans.get(at));
        let heads = plan.into_iter().flat_map(|plan| (plan.first_head..).zip(&plan.heads));
        heads
            .filter_map(|(number, head)| {
                Some((number, (head.function.clone(), self.foreseen.get(&head.stmt)?.clone())))
            })
            .collect()
    }

    /// A file, instrumented; None for files that are not part of the project.
    fn instrument(&mut self, py: Python<'_>, path: &str) -> PyResult<Option<Instrumented>> {
        let alone = self.alone.iter().find(|file| file.source.name == path).map(|file| (file, None));
        if let Some((file, library)) = alone.or_else(|| self.library(path).map(|known| (&known.file, Some(known)))) {
            return deep(py, || {
                let options = Options { library: library.is_some(), ..Options::default() };
                let mut plan = Analysis::new(std::slice::from_ref(file)).plans(&options).remove(0);
                plan.heads.clear(); // who calls its functions is not known
                let mut made = instrumented(file, &plan, &[], None);
                made.origin = library.and_then(|known| known.origin.clone());
                Ok(Some(made))
            });
        }
        let Some(at) = self.file(path) else { return Ok(None) };
        deep(py, || {
            if self.plans.is_empty() {
                let is_checked = std::env::var_os("FLORC_DEBUG").is_some_and(|value| !value.is_empty());
                self.analysed += self.codebase.bytes();
                let analysis = Analysis::new(&self.codebase.files);
                self.plans = analysis.plans(&Options { all_heads: is_checked, ..Options::default() });
                self.foreseen = if is_checked { foreseen(&analysis, &self.plans) } else { BTreeMap::new() };
            }
            let plan = &mut self.plans[at];
            match entered::numbers(plan.heads.len()) {
                Some(first) => plan.first_head = first,
                None => plan.heads.clear(),
            }
            let file = &self.codebase.files[at];
            let made = instrumented(file, plan, &[], None);
            if made.left_alone.is_none() || plan.heads.is_empty() {
                return Ok(Some(made));
            }
            plan.heads.clear(); // without them it may do
            Ok(Some(instrumented(file, plan, &[], None)))
        })
    }
}

/// The distribution of a library's module in which loops are followed, the first version that this was tried with, and the first that
/// it was not; None for other modules.
#[pyfunction]
pub fn followed(module: &str) -> Option<(&str, &str, &str)> {
    let found = florc::knowledge::Knowledge::shipped().followed(module)?;
    let [distribution, from, below] = &found.versions;
    Some((distribution, from, below))
}

impl Project {
    fn file(&self, path: &str) -> Option<usize> {
        self.codebase.files.iter().position(|file| file.source.name == path)
    }

    fn library(&self, path: &str) -> Option<&Library> {
        self.libraries.iter().find(|known| known.file.source.name == path)
    }
}

/// Asks Python for a module of the project.
fn found(py: Python<'_>, find: &Py<PyAny>, dotted: &str) -> Found {
    let answer = find.call1(py, (dotted,)).and_then(|answer| answer.extract::<Option<(String, bool, String)>>(py));
    match answer {
        Ok(Some((path, is_package, text))) => Found::File { source: Source::new(path, text), is_package },
        Ok(None) => Found::Foreign,
        Err(error) => Found::Unreadable(error.value(py).to_string()),
    }
}

/// The loops that may enter each function that tells it, as the call graph has it; not where it does not know.
fn foreseen(analysis: &Analysis, plans: &[Plan]) -> BTreeMap<StmtId, BTreeSet<String>> {
    let heads = plans.iter().flat_map(|plan| &plan.heads);
    let scope = |stmt: StmtId| analysis.project.scopes.of_statement.get(&stmt).copied();
    heads.filter_map(|head| Some((head.stmt, loops_that_enter(analysis, plans, scope(head.stmt)?)?))).collect()
}
