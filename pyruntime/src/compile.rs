//! The compiler, for Python: instrument a text, compare two versions, run a command line.

use florc::cli::{Outcome, probes_json, run};
use florc::emit::{ProbeMark, emit, undo};
use florc::plan::{Analysis, to_json};
use florc::probes::{ChangeKind, compare};
use florc::{Emitted, Options, Source, syntax};
use pyo3::exceptions::PySyntaxError;
use pyo3::prelude::*;

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
        self.emitted.map_positions(&self.source, &positions)
    }
}

/// Instruments a decoded text. `qualifier` is put before every loop id.
#[pyfunction]
#[pyo3(signature = (text, name, qualifier = ""))]
pub fn instrument(py: Python<'_>, text: &str, name: &str, qualifier: &str) -> PyResult<Instrumented> {
    let options = Options { qualifier: qualifier.to_owned(), ..Options::default() };
    py.detach(|| {
        syntax::on_deep_stack(syntax::DEEP_STACK, || {
            let source = Source::new(name, text);
            let (module, tokens) = syntax::parse(&source).map_err(|diagnostic| diagnostic.render(&source))?;
            let plan = Analysis::new(&source, &module).plan(&options);
            let emitted = emit(&source, &module, &tokens, &plan, &[]);
            let plan = to_json(&source, &plan).to_string();
            Ok(Instrumented { source, emitted, plan, changes: String::new() })
        })
    })
    .map_err(PySyntaxError::new_err::<String>)
}

/// Instruments the present version of a file for a replay of the recorded version: loops keep their recorded ids, and
/// added statements are marked as probes.
#[pyfunction]
#[pyo3(signature = (recorded, present, name, qualifier = ""))]
pub fn instrument_for_replay(
    py: Python<'_>,
    recorded: &str,
    present: &str,
    name: &str,
    qualifier: &str,
) -> PyResult<Instrumented> {
    let options = Options { qualifier: qualifier.to_owned(), ..Options::default() };
    py.detach(|| {
        syntax::on_deep_stack(syntax::DEEP_STACK, || {
            let (old, new) = (Source::new(name, recorded), Source::new(name, present));
            let (old_module, _) = syntax::parse(&old).map_err(|diagnostic| diagnostic.render(&old))?;
            let (new_module, tokens) = syntax::parse(&new).map_err(|diagnostic| diagnostic.render(&new))?;
            let report = compare((&old, &old_module), (&new, &new_module), &options);
            let marks: Vec<ProbeMark> = report
                .changes
                .iter()
                .filter(|change| !change.removed && is_added(change.kind, change.why.as_deref()))
                .map(|change| ProbeMark { id: format!("{qualifier}{}", change.line), stmt: change.stmt })
                .collect();
            let emitted = emit(&new, &new_module, &tokens, &report.plan, &marks);
            let plan = to_json(&new, &report.plan).to_string();
            let changes = probes_json(&report).to_string();
            Ok(Instrumented { source: new, emitted, plan, changes })
        })
    })
    .map_err(PySyntaxError::new_err::<String>)
}

fn is_added(kind: ChangeKind, why: Option<&str>) -> bool {
    kind == ChangeKind::Probe || why != Some("edited")
}

/// Reads a command line (program name first). Commands that need no Python process run here.
///
/// Returns the exit code, or the arguments of a command that runs Python code, as JSON.
#[pyfunction]
pub fn command_line(py: Python<'_>, argv: Vec<String>) -> (Option<i32>, Option<String>) {
    match py.detach(|| syntax::on_deep_stack(syntax::DEEP_STACK, || run(argv))) {
        Outcome::Done(code) => (Some(code), None),
        Outcome::Runtime(command) => (None, serde_json::to_string(&command).ok()),
    }
}
