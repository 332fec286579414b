//! `florc._native.Path`.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::nest::path::{At, Path, Step, base};

/// A place in the loop nest: `L1=3/L2#0/L2=70@`, a value. Steps, the outermost first: `L1=3` is an iteration, `L2#0` a run of a
/// block, a bare `L2` at the end the loop itself; `@` is the start of the iteration; `""` is the program itself, which is false.
///
/// Places are compared in the order of the program, what holds another place before it. Of two in different loops or blocks of
/// one iteration nothing tells which came first: then neither is less.
///
/// Raises ValueError for another text.
#[pyclass(name = "Path", module = "florc._native", frozen, eq, hash, ord)]
#[derive(PartialEq, PartialOrd, Hash)]
pub struct PyPath(Path);

#[pymethods]
impl PyPath {
    #[new]
    fn new(text: &str) -> PyResult<PyPath> {
        let why = |why: &str| PyValueError::new_err(format!("{text:?} is no place in the loop nest: {why}"));
        text.parse().map(PyPath).map_err(why)
    }

    /// The place around its last step; None of the program itself.
    #[getter]
    fn parent(&self) -> Option<PyPath> {
        let count = self.0.steps.len().checked_sub(1)?;
        Some(PyPath(self.0.head(count)))
    }

    /// Its first step: what no other loop or block is around; the program itself where it has none.
    #[getter]
    fn head(&self) -> PyPath {
        PyPath(self.0.head(1))
    }

    /// Its last loop or block: `L2.1` where a loop runs again in the same place, `""` of the program itself.
    #[getter]
    fn name(&self) -> &str {
        self.last().map_or("", |step| &step.name)
    }

    /// The id of its last loop or block in the plan: `L2`.
    #[getter]
    fn r#loop(&self) -> &str {
        base(self.name())
    }

    /// Its last loop itself, at its place in the nest: `L1=3/L2`.
    #[getter]
    fn place(&self) -> PyPath {
        PyPath(self.0.place(self.0.steps.len()))
    }

    /// The iteration of its last loop; None of a block, and of a loop itself.
    #[getter]
    fn index(&self) -> Option<i64> {
        if let At::Iteration(index) = self.last()?.at { Some(index) } else { None }
    }

    /// How many times its last block had run before at this place; None of a loop.
    #[getter]
    fn run(&self) -> Option<i64> {
        if let At::Run(run) = self.last()?.at { Some(run) } else { None }
    }

    /// Whether it is the start of an iteration (`@`).
    #[getter]
    fn between(&self) -> bool {
        self.0.between
    }

    /// The places that it is in, the outermost first, and itself, without `@`.
    #[getter]
    fn lineage(&self) -> Vec<PyPath> {
        (1..=self.0.steps.len()).map(|count| PyPath(self.0.head(count))).collect()
    }

    /// The loops that it is in an iteration of, as texts of their places, and which, the outermost first.
    #[getter]
    fn iterations(&self) -> Vec<(String, i64)> {
        let of = |(number, step): (usize, &Step)| match step.at {
            At::Iteration(index) => Some((self.0.place(number + 1).to_string(), index)),
            _ => None,
        };
        self.0.steps.iter().enumerate().filter_map(of).collect()
    }

    /// The ids of the blocks that it is in, the outermost first.
    #[getter]
    fn blocks(&self) -> Vec<&str> {
        let is_run = |step: &&Step| matches!(step.at, At::Run(_));
        self.0.steps.iter().filter(is_run).map(|step| step.name.as_str()).collect()
    }

    /// The same without its numbers: `L1=/L2#`.
    #[getter]
    fn shape(&self) -> String {
        let sign = |at: At| match at {
            At::Loop => "",
            At::Iteration(_) => "=",
            At::Run(_) => "#",
        };
        self.0.steps.iter().map(|step| format!("{}{}", step.name, sign(step.at))).collect::<Vec<_>>().join("/")
    }

    /// The place of the outermost loop that it is in an iteration of: `L1#0/L1`; itself where it is in none.
    #[getter]
    fn outermost(&self) -> PyPath {
        let is_iteration = |step: &Step| matches!(step.at, At::Iteration(_));
        let at = self.0.steps.iter().position(is_iteration);
        PyPath(at.map_or_else(|| self.0.clone(), |at| self.0.place(at + 1)))
    }

    /// An iteration of its last loop. Raises ValueError for the program itself.
    fn at(&self, index: i64) -> PyResult<PyPath> {
        let mut found = self.0.place(self.0.steps.len());
        found.steps.last_mut().ok_or_else(no_loop)?.at = At::Iteration(index);
        Ok(PyPath(found))
    }

    /// The start of the iteration: with `@`. Raises ValueError for the program itself.
    fn start(&self) -> PyResult<PyPath> {
        self.last().ok_or_else(no_loop)?;
        Ok(PyPath(Path { between: true, ..self.0.clone() }))
    }

    /// Of a place (or its text) inside this one: it, or what is around it, just one step or one iteration further in. None of
    /// any other place.
    fn below(&self, other: &Bound<'_, PyAny>) -> PyResult<Option<PyPath>> {
        with(other, |other| self.0.below(other).map(PyPath))
    }

    /// Where a place (or its text) is, seen from this iteration: -1 before it, 0 in it, 1 after it; None where nothing tells.
    fn side(&self, other: &Bound<'_, PyAny>) -> PyResult<Option<i8>> {
        with(other, |other| self.0.side(other).map(|side| side as i8))
    }

    /// Whether a place (or its text) is this one, or lies in it.
    fn __contains__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        with(other, |other| self.0.holds(other))
    }

    fn __bool__(&self) -> bool {
        !self.0.steps.is_empty()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Path('{}')", self.0)
    }
}

impl PyPath {
    fn last(&self) -> Option<&Step> {
        self.0.steps.last()
    }
}

fn no_loop() -> PyErr {
    PyValueError::new_err("the program itself is no loop")
}

fn with<T>(other: &Bound<'_, PyAny>, work: impl FnOnce(&Path) -> T) -> PyResult<T> {
    match other.cast::<PyString>() {
        Ok(text) => Ok(work(&PyPath::new(text.to_str()?)?.0)),
        Err(_) => Ok(work(&other.cast::<PyPath>()?.get().0)),
    }
}
