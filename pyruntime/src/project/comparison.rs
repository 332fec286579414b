//! Two versions of a project: what a replay runs.
use florc::Options;
use florc::emit::ProbeMark;
use florc::knowledge::Knowledge;
use florc::probes::{self, Change, Report, compare};
use florc::project::Codebase;
use florc::syntax::tree::Stmt;
use florc::syntax::{File, walk};
use pyo3::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::changes::{Changes, Function};
use super::compile::{FileParts, Instrumented, deep, instrumented};
use super::files::Project;
use super::library::{Library, parse};

/// A recorded project and its present version.
#[pyclass(frozen, module = "florc._native")]
pub struct Comparison {
    /// The user's own.
    recorded: Vec<FileParts>,
    files: Vec<File>,
    reports: Vec<Report>,
    /// Of the files, those of libraries.
    libraries: Vec<Library>,
}

/// Lines: the first and the last.
type Lines = (usize, usize);

#[pymethods]
impl Comparison {
    /// Compares the files of a run (name as a module, package, path, text) with those of today. Files of the run that are
    /// not Python to the compiler ran as they were, and do so again. `noted`: functions of which the run
    /// tells what entered them.
    #[new]
    fn new(py: Python<'_>, recorded: Vec<FileParts>, present: &Project, noted: Vec<Function>) -> PyResult<Self> {
        deep(py, || {
            let is_libraries = |name: &str| {
                let own = || present.codebase.files.iter().chain(&present.alone).any(|file| file.name == name);
                Knowledge::shipped().followed(name).is_some() && !own()
            };
            let read = |(module, package, path, text): &FileParts| {
                if is_libraries(module) {
                    return Library::parse(module, package, path, text).ok().map(|library| library.file);
                }
                parse(module, package, path, text).ok()
            };
            let is_one = |files: &[File], file: &File| files.iter().any(|known| known.name == file.name);
            let (libraries, users): (Vec<File>, Vec<File>) =
                recorded.iter().filter_map(read).partition(|file| is_libraries(&file.name));
            let (alone, together): (Vec<File>, Vec<File>) =
                users.into_iter().partition(|file| is_one(&present.alone, file));
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
            let anywhere = reports.iter().find_map(|report| report.anywhere.clone());
            for Library { file, .. } in &present.libraries {
                let before =
                    libraries.iter().find(|known| known.name == file.name).map_or(&[][..], std::slice::from_ref);
                let options = Options { library: true, ..Options::default() };
                let mut found = compare(before, std::slice::from_ref(file), &options, &BTreeSet::new());
                for report in &mut found {
                    let is_other = !report.changes.is_empty();
                    let other = is_other.then(|| "is another one in the library that is installed".to_owned());
                    if let Some(why) = other.or_else(|| anywhere.clone()) {
                        let every: Vec<String> = report.plan.loops.iter().map(|entry| entry.id.clone()).collect();
                        report.probed.extend(every.into_iter().map(|id| (id, why.clone())));
                    }
                    // nobody added anything there
                    report.changes.clear();
                }
                reports.append(&mut found);
                files.push(file.clone());
            }
            let recorded = recorded.into_iter().filter(|(name, ..)| !is_libraries(name)).collect();
            Ok(Self { recorded, files, reports, libraries: present.libraries.clone() })
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
            let same = self.each().filter(|(other, _)| other.source.name == path).map(|(_, report)| report);
            let mut made = instrumented(file, &report.plan, &marks, Some(Changes::new(path, report, same)));
            let library = self.libraries.iter().find(|known| known.file.source.name == path);
            made.origin = library.and_then(|known| known.origin.clone());
            Ok(Some(made))
        })
    }

    /// The paths of the present version's files.
    fn paths(&self) -> Vec<&str> {
        self.files.iter().map(|file| file.source.name.as_str()).collect()
    }

    /// Whether added statements keep something of their own from one iteration for another.
    fn accumulates(&self) -> bool {
        self.reports.iter().any(|report| report.accumulates)
    }

    /// Whether what an earlier run of a loop left in a name is never read, each run binding it anew.
    fn is_fresh(&self, py: Python<'_>, block: &str, name: &str) -> PyResult<bool> {
        deep(py, || Ok(self.holder_of(block).is_some_and(|(file, it)| probes::is_fresh(file, &it.plan, block, name))))
    }

    /// Whether the statements that are not the recorded ones read nothing of `name` but the form of a tensor or an array.
    fn asks_for_form_only(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        deep(py, || Ok(self.each().all(|(file, report)| probes::asks_for_form_only(present_only(file, report), name))))
    }

    /// Whether the added statement at a line of a file is in a method that Python may call when nothing is left of the script.
    fn is_in_deletion(&self, py: Python<'_>, path: &str, line: usize) -> PyResult<bool> {
        let Some((file, _, change)) = self.change(path, line) else { return Ok(false) };
        deep(py, || Ok(probes::is_in_deletion(file, change.stmt)))
    }

    /// By the lines of a file's added statements: the first and the last line of those side by side with it.
    fn groups(&self, py: Python<'_>, path: &str) -> PyResult<BTreeMap<usize, Lines>> {
        let Some((file, report)) = self.each().find(|(file, _)| file.source.name == path) else {
            return Ok(BTreeMap::new());
        };
        let added = report.changes.iter().filter(|change| change.is_added()).map(|change| change.stmt).collect();
        deep(py, || Ok(probes::groups(file, &added)))
    }

    /// Every name that the recorded project mentions, and those that only changed files do.
    fn names(&self) -> (HashSet<&str>, HashSet<&str>) {
        let recorded: HashSet<&str> = self.recorded.iter().flat_map(|(.., text)| probes::words(text)).collect();
        let changed = self.each().filter(|(_, report)| !report.changes.is_empty());
        let present = changed.flat_map(|(file, _)| probes::words(&file.source.text));
        let added = present.filter(|name| !recorded.contains(name)).collect();
        (recorded, added)
    }

    /// The names that added statements bind, and whether they may hold objects otherwise.
    fn names_that_hold(&self, py: Python<'_>) -> PyResult<(BTreeSet<String>, bool)> {
        deep(py, || {
            let (mut names, mut otherwise) = (BTreeSet::new(), false);
            for (file, report) in self.each() {
                let (found, more) = probes::names_that_hold(present_only(file, report));
                names.extend(found);
                otherwise |= more;
            }
            Ok((names, otherwise))
        })
    }

    /// Attributes that calls of modules of the recorded project leave behind and do not read.
    fn left_by_forward(&self, py: Python<'_>) -> PyResult<BTreeSet<String>> {
        deep(py, || {
            let read = |(module, package, path, text): &FileParts| parse(module, package, path, text).ok();
            let files: Vec<File> = self.recorded.iter().filter_map(read).collect();
            Ok(probes::left_by_forward(files.iter().map(|file| &file.module)))
        })
    }
}

/// The statements of a file that are not the recorded ones.
fn present_only<'f>(file: &'f File, report: &Report) -> Vec<&'f Stmt> {
    let present: BTreeSet<_> = report.changes.iter().filter(|it| !it.removed).map(|it| it.stmt).collect();
    let mut stmts = Vec::new();
    walk::all_statements(&file.module, &mut |stmt| stmts.extend(present.contains(&stmt.id).then_some(stmt)));
    stmts
}

impl Comparison {
    fn each(&self) -> impl Iterator<Item = (&File, &Report)> {
        self.files.iter().zip(&self.reports)
    }

    /// The file that a loop is in.
    fn holder_of(&self, block: &str) -> Option<(&File, &Report)> {
        self.each().find(|(_, report)| report.plan.loops.iter().any(|entry| entry.id == block))
    }

    /// A statement of a file that is another one than the recorded one, or new.
    fn change(&self, path: &str, line: usize) -> Option<(&File, &Report, &Change)> {
        let (file, report) = self.each().find(|(file, _)| file.source.name == path)?;
        let change = report.changes.iter().find(|change| change.line == line && !change.removed)?;
        Some((file, report, change))
    }
}
