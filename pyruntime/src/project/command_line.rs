//! The command line, which the compiler's half reads.
use florc::cli::{Kind, Outcome, offer, run};
use pyo3::prelude::*;

use super::compile::deep;

/// Reads a command line (program name first). Commands that need no Python process run here.
///
/// Returns the exit code, or the arguments of a command that runs Python code, as JSON.
#[pyfunction]
pub fn command_line(py: Python<'_>, argv: Vec<String>) -> PyResult<(Option<i32>, Option<String>)> {
    offer(candidates);
    Ok(match deep(py, || Ok(run(argv)))? {
        Outcome::Done(code) => (Some(code), None),
        Outcome::Runtime(command) => (None, serde_json::to_string(&command).ok()),
    })
}

/// What may stand where a shell asks, by `florc.cli.completion`. What goes wrong completes nothing: a shell has no place for it.
fn candidates(kind: Kind, words: &[String]) -> Vec<(String, String)> {
    Python::attach(|py| {
        let found = py.import("florc.cli.completion")?.call_method1("candidates", (kind.name(), words.to_vec()))?;
        found.extract()
    })
    .unwrap_or_else(|_: PyErr| Vec::new())
}
