//! One file, compiled: its text and its code, and the way back to the user's positions.
use florc::analysis::Analysis;
use florc::emit::{ProbeMark, emit_checked, undo, untouched};
use florc::plan::schema;
use florc::syntax::{DEEP_STACK, File, on_deep_stack};
use florc::{Emitted, Options, Source};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::sync::Arc;

use super::changes::Changes;
use super::library::{Origin, parse};
use super::plan::Plan;
use super::{first_line, line_table};
use crate::guard::panics::guard;

/// An instrumented file.
#[pyclass(frozen, module = "florc._native")]
pub struct Instrumented {
    source: Source,
    emitted: Emitted,
    plan: Arc<schema::Plan>,
    changes: Option<Changes>,
    /// Of a library's file that is compiled in another form.
    pub(super) origin: Option<Arc<Origin>>,
    /// Why nothing was written into the file although there was something to write; or None.
    #[pyo3(get)]
    pub(super) left_alone: Option<&'static str>,
}

#[pymethods]
impl Instrumented {
    /// The instrumented text.
    #[getter]
    fn text(&self) -> &str {
        &self.emitted.text
    }

    /// What is done to its loops.
    #[getter]
    fn plan(&self) -> Plan {
        Plan::new(Arc::clone(&self.plan))
    }

    /// What changed since the recorded version; None when there is no recorded version.
    #[getter]
    fn changes(&self) -> Option<Changes> {
        self.changes.clone()
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
        positions.into_iter().map(self.positions()).collect()
    }

    /// The code of the instrumented text with every position mapped to the original text, for CPython 3.11 and later.
    /// Raises ValueError for code or a table of positions in a form that is not known.
    fn map_code<'py>(&self, code: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        guard(|| {
            let first = code.getattr("co_firstlineno")?.extract()?;
            mapped(&code, first, &self.positions())
        })
    }
}

impl Instrumented {
    /// From the instrumented text to that on disk.
    fn positions(&self) -> impl Fn((usize, usize)) -> (usize, usize) + '_ {
        let to_compiled = self.emitted.positions(&self.source);
        let to_installed = self.origin.as_deref().map(Origin::positions);
        move |at| to_installed.as_ref().map_or_else(|| to_compiled(at), |to| to(to_compiled(at)))
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
    let before: usize = code.getattr("co_firstlineno")?.extract()?;
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
    if before != first && first_line::is_kept(&code.getattr("co_names")?.extract::<Vec<String>>()?) {
        let mut bytes: Vec<u8> = code.getattr("co_code")?.extract()?;
        // a constant more: the class may use the number, too
        let added = u8::try_from(inner.len()).ok();
        let at = first_line::place(&bytes).and_then(|at| bytes.get_mut(at));
        let (Some(added), Some(at)) = (added, at) else {
            return Err(PyValueError::new_err(
                "a class in a form of another version of Python, or of too many constants",
            ));
        };
        *at = added;
        inner.push(first.into_bound_py_any(py)?);
        changed.set_item("co_code", PyBytes::new(py, &bytes))?;
    }
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
        Ok(instrumented(&file, &plan, &[], None))
    })
}

/// A file as Python hands it over: its name as a module, its package, its path, its decoded text.
pub(super) type FileParts = (String, String, String, String);

/// Without the GIL, and with room for the deepest files.
pub(super) fn deep<T: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    guard(|| py.detach(|| on_deep_stack(DEEP_STACK, work)))
}

/// The import statements that a script begins with, each with the packages that it names.
///
/// # Errors
/// SyntaxError.
#[pyfunction]
pub fn leading_imports(py: Python<'_>, text: &str) -> PyResult<Vec<(String, Vec<String>)>> {
    deep(py, || {
        let file = parse(File::SCRIPT, "", "", text)?;
        Ok(florc::project::leading_imports(&file).into_iter().map(|one| (one.text, one.packages)).collect())
    })
}

/// The bytes of the expression that a notebook's cell ends with and shows, or None.
///
/// # Errors
/// SyntaxError.
#[pyfunction]
pub fn shown_at_end(py: Python<'_>, text: &str) -> PyResult<Option<(usize, usize)>> {
    deep(py, || {
        let file = parse(File::SCRIPT, "", "", text)?;
        Ok(florc::project::shown_at_end(&file).map(|range| (range.start, range.end)))
    })
}

pub(super) fn instrumented(
    file: &File,
    plan: &florc::Plan,
    marks: &[ProbeMark],
    changes: Option<Changes>,
) -> Instrumented {
    let emitted = emit_checked(file, plan, marks);
    let left_alone = emitted.as_ref().err().copied();
    let emitted = emitted.unwrap_or_else(|_| untouched(&file.source));
    let plan = Arc::new(schema::Plan::new(&file.source, plan));
    Instrumented { source: file.source.clone(), emitted, plan, changes, origin: None, left_alone }
}
