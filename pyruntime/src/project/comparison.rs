//! Two versions of a project: what a replay runs.
use florc::Options;
use florc::emit::ProbeMark;
use florc::probes::{Report, compare};
use florc::project::Codebase;
use florc::syntax::File;
use pyo3::prelude::*;
use std::collections::BTreeSet;

use super::changes::{Changes, Function};
use super::compile::{FileParts, Instrumented, deep, instrumented, parse};
use super::files::Project;

/// A recorded project and its present version.
#[pyclass(frozen, module = "florc._native")]
pub struct Comparison {
    files: Vec<File>,
    reports: Vec<Report>,
}

#[pymethods]
impl Comparison {
    /// Compares the files of a run (name as a module, package, path, text) with those of today. Files of the run that are
    /// not Python to the compiler ran as they were, and do so again. `noted`: functions of which the run
    /// tells what entered them.
    #[new]
    fn new(py: Python<'_>, recorded: Vec<FileParts>, present: &Project, noted: Vec<Function>) -> PyResult<Self> {
        deep(py, || {
            let read = |(module, package, path, text): &FileParts| parse(module, package, path, text).ok();
            let is_alone = |name: &str| present.alone.iter().any(|file| file.name == name);
            let (alone, together): (Vec<File>, Vec<File>) =
                recorded.iter().filter_map(read).partition(|file| is_alone(&file.name));
            let old = Codebase::of(together);
            let mut files = present.codebase.files.clone();
            // a file that is analysed alone may call functions of all others
            let noted = noted.into_iter().filter(|_| present.alone.is_empty());
            let noted = noted.map(Into::into).collect();
            let mut reports = compare(&old.files, &files, &Options::default(), &noted);
            for file in &present.alone {
                let before = alone.iter().find(|known| known.name == file.name).map_or(&[][..], std::slice::from_ref);
                let mut found = compare(before, std::slice::from_ref(file), &Options::default(), &BTreeSet::new());
                for report in found.iter_mut().filter(|report| !report.changes.is_empty()) {
                    // who calls it is not known
                    let every = reports.iter().flat_map(|known| &known.plan.loops).map(|entry| entry.id.clone());
                    let why = "may run an added statement: it stands in a file that was analysed alone";
                    report.probed.extend(every.map(|id| (id, why.to_owned())));
                }
                reports.append(&mut found);
                files.push(file.clone());
            }
            Ok(Self { files, reports })
        })
    }

    /// The present version of a file for a replay: loops keep their recorded ids, and added statements are marked as
    /// probes. None for files that are not part of the project.
    fn instrument(&self, py: Python<'_>, path: &str) -> PyResult<Option<Instrumented>> {
        let Some(at) = self.files.iter().position(|file| file.source.name == path) else { return Ok(None) };
        deep(py, || {
            let (file, report) = (&self.files[at], &self.reports[at]);
            let marks: Vec<ProbeMark> = report
                .changes
                .iter()
                .filter(|change| change.is_added())
                .map(|change| ProbeMark { id: format!("{}{}", file.qualifier(), change.line), stmt: change.stmt })
                .collect();
            Ok(Some(instrumented(file, &report.plan, &marks, Some(Changes::new(path, report)))))
        })
    }

    /// The paths of the present version's files.
    fn paths(&self) -> Vec<&str> {
        self.files.iter().map(|file| file.source.name.as_str()).collect()
    }
}
