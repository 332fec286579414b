//! What the text of a recorded project says, where the plan of its run says too little.
use florc::ids::IdVec;
use florc::loops::{Loop, LoopId, Loops, last_of_body, variables};
use florc::plan::Steps;
use florc::project::Codebase;
use florc::scopes::Scopes;
use florc::syntax::File;
use pyo3::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

use super::compile::{FileParts, deep};
use super::library::parse;

/// The files of a run. Loops have the ids that they have in its plans.
#[pyclass(frozen, module = "florc._native")]
pub struct Sources {
    files: Vec<File>,
}

#[pymethods]
impl Sources {
    /// Reads the files of a run (name as a module, package, path, text); those that are not Python to the compiler are left out.
    #[new]
    fn new(py: Python<'_>, files: Vec<FileParts>) -> PyResult<Self> {
        deep(py, || {
            let read = |(module, package, path, text): &FileParts| parse(module, package, path, text).ok();
            Ok(Self { files: Codebase::of(files.iter().filter_map(read).collect()).files })
        })
    }

    /// The names that the headers of the loops bind, by id.
    fn variables(&self, py: Python<'_>) -> PyResult<BTreeMap<String, Vec<String>>> {
        self.each(py, |_, entry| variables(entry.stmt).into_iter().map(str::to_owned).collect())
    }

    /// By id, of the `while` loops that their conditions may end: the last lines of their bodies.
    fn ends_of_bodies(&self, py: Python<'_>) -> PyResult<BTreeMap<String, usize>> {
        let found = self.each(py, |file, entry| last_of_body(entry.stmt, &file.source))?;
        Ok(found.into_iter().filter_map(|(id, line)| Some((id, line?))).collect())
    }

    /// Whether all that a loop does itself is `scheduler.step()`, as far as is seen: one of the loops `inside` it takes the steps.
    /// `trains`: the followed loops that train.
    fn only_schedules(
        &self,
        py: Python<'_>,
        outer: &str,
        inside: BTreeSet<String>,
        trains: BTreeSet<String>,
    ) -> PyResult<bool> {
        deep(py, || Ok(Steps::new(&self.files).only_schedules(outer, &inside, &trains)))
    }
}

impl Sources {
    /// Something of each loop, by id.
    fn each<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl Fn(&File, &Loop) -> T + Send + Sync,
    ) -> PyResult<BTreeMap<String, T>> {
        deep(py, || {
            let scopes = Scopes::new(self.files.iter().map(|file| &file.module));
            let loops = Loops::new(&scopes);
            let ids: IdVec<LoopId, String> = loops.names(&scopes, &self.files);
            let answer = |entry: &Loop| ask(&self.files.as_slice()[scopes.list[entry.scope].file], entry);
            Ok(ids.into_iter().zip(loops.list.iter().map(answer)).collect())
        })
    }
}
