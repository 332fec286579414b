//! The compiler, for Python: instrument a text, compare two versions, run a command line.

use florc::analysis::Analysis;
use florc::cli::{Outcome, probes_json, run};
use florc::emit::{ProbeMark, emit_checked, undo, untouched};
use florc::ids::StmtId;
use florc::plan::schema;
use florc::probes::{Function, Report, compare, loops_that_enter};
use florc::project::{Codebase, Found, follow};
use florc::syntax::{DEEP_STACK, File, on_deep_stack};
use florc::{Emitted, Options, Plan, Source};
use pyo3::exceptions::{PySyntaxError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::entered;
use crate::errors::guard;
use crate::line_table;
use std::collections::{BTreeMap, BTreeSet};

/// An instrumented file.
#[pyclass(frozen, module = "florc._native")]
pub struct Instrumented {
    source: Source,
    emitted: Emitted,
    /// The plan as JSON.
    #[pyo3(get)]
    plan: String,
    /// What changed since the recorded version, as JSON; empty when there is no recorded version.
    #[pyo3(get)]
    changes: String,
    /// Why nothing was written into the file although there was something to write; or None.
    #[pyo3(get)]
    left_alone: Option<&'static str>,
}

#[pymethods]
impl Instrumented {
    /// The instrumented text.
    #[getter]
    fn text(&self) -> &str {
        &self.emitted.text
    }

    /// The text without the insertions.
    fn undo(&self) -> String {
        undo(&self.emitted)
    }

    /// Whether anything was inserted.
    #[getter]
    fn changed(&self) -> bool {
        !self.emitted.edits.is_empty()
    }

    /// Maps (line, column) pairs of the instrumented text, as `ast` counts them, to the original text.
    fn map_positions(&self, positions: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        positions.into_iter().map(self.emitted.positions(&self.source)).collect()
    }

    /// The code of the instrumented text with every position mapped to the original text, for CPython 3.11 and later.
    /// Raises ValueError for a table of positions in another format.
    fn map_code<'py>(&self, code: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        guard(|| {
            let first = code.getattr("co_firstlineno")?.extract()?;
            mapped(&code, first, &self.emitted.positions(&self.source))
        })
    }
}

/// A code object, and those inside it, with their positions mapped; its own first line is given.
fn mapped<'py>(
    code: &Bound<'py, PyAny>,
    first: usize,
    to: &dyn Fn((usize, usize)) -> (usize, usize),
) -> PyResult<Bound<'py, PyAny>> {
    let py = code.py();
    let table: Bound<'py, PyBytes> = code.getattr("co_linetable")?.cast_into()?;
    let before = code.getattr("co_firstlineno")?.extract()?;
    let table = line_table::map(table.as_bytes(), before, first, to)
        .ok_or_else(|| PyValueError::new_err("positions in a format of another version of Python"))?;
    let constants: Bound<'py, PyTuple> = code.getattr("co_consts")?.cast_into()?;
    let mut inner = Vec::with_capacity(constants.len());
    for constant in constants.iter() {
        inner.push(if constant.get_type().is(code.get_type()) {
            let line = constant.getattr("co_firstlineno")?.extract()?;
            mapped(&constant, to((line, 0)).0, to)?
        } else {
            constant
        });
    }
    let changed = PyDict::new(py);
    changed.set_item("co_linetable", PyBytes::new(py, &table))?;
    changed.set_item("co_firstlineno", first)?;
    changed.set_item("co_consts", PyTuple::new(py, inner)?)?;
    code.call_method("replace", (), Some(&changed))
}

/// Instruments a decoded text by itself.
#[pyfunction]
pub fn instrument(py: Python<'_>, text: &str, name: &str) -> PyResult<Instrumented> {
    deep(py, || {
        let file = parse(File::SCRIPT, "", name, text)?;
        let plan = Analysis::new(std::slice::from_ref(&file)).plans(&Options::default()).remove(0);
        Ok(instrumented(&file, &plan, &[], String::new()))
    })
}

/// A file as Python hands it over: its name as a module, its package, its path, its decoded text.
type FileParts = (String, String, String, String);

/// The files of the user's project, analysed together.
#[pyclass(module = "florc._native")]
pub struct Project {
    codebase: Codebase,
    /// One per file; empty while it is not known.
    plans: Vec<Plan>,
    /// Files met when the project was as large as one that is analysed together may be: each is analysed alone.
    alone: Vec<File>,
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
            alone: Vec::new(),
            find,
            foreseen: BTreeMap::new(),
        }
    }

    /// Adds a file, or its present text, and every module that it imports. Raises SyntaxError when it is not Python.
    fn add(&mut self, py: Python<'_>, module: &str, package: &str, path: &str, text: &str) -> PyResult<()> {
        let file = deep(py, || parse(module, package, path, text))?;
        let is_known = self.codebase.files.iter().any(|known| known.name == module);
        if !is_known && self.codebase.is_full() {
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
        if let Some(file) = self.alone.iter().find(|file| file.source.name == path) {
            return deep(py, || {
                let mut plan = Analysis::new(std::slice::from_ref(file)).plans(&Options::default()).remove(0);
                plan.heads.clear(); // who calls its functions is not known
                Ok(Some(instrumented(file, &plan, &[], String::new())))
            });
        }
        let Some(at) = self.file(path) else { return Ok(None) };
        deep(py, || {
            if self.plans.is_empty() {
                let is_checked = std::env::var_os("FLORC_DEBUG").is_some_and(|value| !value.is_empty());
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
            let made = instrumented(file, plan, &[], String::new());
            if made.left_alone.is_none() || plan.heads.is_empty() {
                return Ok(Some(made));
            }
            plan.heads.clear(); // without them it may do
            Ok(Some(instrumented(file, plan, &[], String::new())))
        })
    }
}

impl Project {
    fn file(&self, path: &str) -> Option<usize> {
        self.codebase.files.iter().position(|file| file.source.name == path)
    }
}

/// A recorded project and its present version.
#[pyclass(frozen, module = "florc._native")]
pub struct Comparison {
    files: Vec<File>,
    reports: Vec<Report>,
}

#[pymethods]
impl Comparison {
    /// Compares the files of a run (name as a module, package, path, text) with those of today. Files of the run that are
    /// not Python to the compiler ran as they were, and do so again. `noted`: functions (path, line, qualified name) of which the run
    /// tells what entered them.
    #[new]
    fn new(
        py: Python<'_>,
        recorded: Vec<FileParts>,
        present: &Project,
        noted: Vec<(String, usize, String)>,
    ) -> PyResult<Self> {
        deep(py, || {
            let read = |(module, package, path, text): &FileParts| parse(module, package, path, text).ok();
            let is_alone = |name: &str| present.alone.iter().any(|file| file.name == name);
            let (alone, together): (Vec<File>, Vec<File>) =
                recorded.iter().filter_map(read).partition(|file| is_alone(&file.name));
            let old = Codebase::of(together);
            let mut files = present.codebase.files.clone();
            // a file that is analysed alone may call functions of all others
            let noted = noted.into_iter().filter(|_| present.alone.is_empty());
            let noted = noted.map(|(file, line, name)| Function { file, line, name }).collect();
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
            Ok(Some(instrumented(file, &report.plan, &marks, probes_json(report).to_string())))
        })
    }

    /// The paths of the present version's files.
    fn paths(&self) -> Vec<&str> {
        self.files.iter().map(|file| file.source.name.as_str()).collect()
    }
}

/// Without the GIL, and with room for the deepest files.
fn deep<T: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    guard(|| py.detach(|| on_deep_stack(DEEP_STACK, work)))
}

fn parse(module: &str, package: &str, path: &str, text: &str) -> PyResult<File> {
    let source = Source::new(path, text);
    File::new(source.clone(), module, package).map_err(|error| PySyntaxError::new_err(error.render(&source)))
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

fn instrumented(file: &File, plan: &Plan, marks: &[ProbeMark], changes: String) -> Instrumented {
    let emitted = emit_checked(file, plan, marks);
    let left_alone = emitted.as_ref().err().copied();
    let emitted = emitted.unwrap_or_else(|_| untouched(&file.source));
    let plan = schema::Plan::new(&file.source, plan).to_json();
    Instrumented { source: file.source.clone(), emitted, plan, changes, left_alone }
}

/// The loops that may enter each function that tells it, as the call graph has it; not where it does not know.
fn foreseen(analysis: &Analysis, plans: &[Plan]) -> BTreeMap<StmtId, BTreeSet<String>> {
    let heads = plans.iter().flat_map(|plan| &plan.heads);
    let scope = |stmt: StmtId| analysis.project.scopes.of_statement.get(&stmt).copied();
    heads.filter_map(|head| Some((head.stmt, loops_that_enter(analysis, plans, scope(head.stmt)?)?))).collect()
}

/// Reads a command line (program name first). Commands that need no Python process run here.
///
/// Returns the exit code, or the arguments of a command that runs Python code, as JSON.
#[pyfunction]
pub fn command_line(py: Python<'_>, argv: Vec<String>) -> PyResult<(Option<i32>, Option<String>)> {
    Ok(match deep(py, || Ok(run(argv)))? {
        Outcome::Done(code) => (Some(code), None),
        Outcome::Runtime(command) => (None, serde_json::to_string(&command).ok()),
    })
}
