//! `florc._native.Plan`: what the compiler decided about a file, as a value.
use std::collections::BTreeMap;
use std::sync::Arc;

use florc::plan::schema;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyFrozenSet, PyString, PyTuple};

use super::changes::Function;
use crate::nest::follow::register_loop;
use crate::nest::levels::LoopFacts;

/// After the id of a loop: the start of its iterations.
const START: char = '@';

/// What is done to each loop of a file.
#[pyclass(frozen, module = "florc._native")]
pub struct Plan {
    plan: Arc<schema::Plan>,
    /// Made when they are first asked for.
    loops: PyOnceLock<Py<PyTuple>>,
}

#[pymethods]
impl Plan {
    /// Its text, for the journal.
    fn to_json(&self) -> String {
        self.plan.to_json()
    }

    /// Its loops, in source order.
    #[getter]
    fn loops(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        let made = self.loops.get_or_try_init(py, || {
            let loops: Vec<Py<Loop>> =
                self.plan.loops.iter().map(|entry| Loop::new(py, &self.plan.file, entry)).collect::<PyResult<_>>()?;
            PyTuple::new(py, loops).map(Bound::unbind)
        });
        made.map(|loops| loops.clone_ref(py))
    }

    /// The functions that report that they are entered, by number; `file`: where the file is now.
    fn functions(&self, file: &str) -> BTreeMap<usize, Function> {
        let function = |found: &schema::Function| {
            (found.number, Function { file: file.to_owned(), line: found.line, name: found.function.clone() })
        };
        self.plan.functions.iter().map(function).collect()
    }

    /// Makes its loops known to the loop nest.
    fn register(&self) {
        let parents: BTreeMap<&str, Option<&String>> =
            self.plan.loops.iter().map(|entry| (entry.id.as_str(), entry.parent.as_ref())).collect();
        for entry in &self.plan.loops {
            let above = |id: &&String| parents.get(id.as_str()).copied().flatten();
            let around = std::iter::successors(entry.parent.as_ref(), above).take(parents.len()).cloned().collect();
            let scope = format!("{}:{}", self.plan.file, entry.function);
            let is_while = entry.followed && entry.header.starts_with("while");
            let in_reserve = entry.memoized && entry.inside.is_some();
            register_loop(entry.id.clone(), LoopFacts { scope, ancestors: around, is_while, in_reserve });
        }
    }
}

impl Plan {
    pub fn new(plan: Arc<schema::Plan>) -> Self {
        Self { plan, loops: PyOnceLock::new() }
    }
}

/// A loop of a plan; or the start of its iterations, which has places of its own.
#[pyclass(frozen, get_all, module = "florc._native")]
pub struct Loop {
    id: Py<PyString>,
    memoized: bool,
    in_reserve_for: Option<Py<PyString>>,
    followed: bool,
    gradients: bool,
    header: Py<PyString>,
    file: Py<PyString>,
    line: usize,
    end_line: usize,
    places: Py<PyTuple>,
    note: Option<Py<PyString>>,
    function: Py<PyString>,
    binds: Py<PyTuple>,
    differentiated: bool,
    trains: bool,
    writes: bool,
    unseen: Py<PyTuple>,
    counting: Py<PyFrozenSet>,
    start: Option<Py<Loop>>,
}

impl Loop {
    fn new(py: Python<'_>, file: &str, entry: &schema::Loop) -> PyResult<Py<Self>> {
        let text = |text: &str| PyString::new(py, text).unbind();
        let note = entry.note.as_ref().map(|note| {
            if note.line == entry.line { text(&note.why) } else { text(&format!("line {}: {}", note.line, note.why)) }
        });
        let mut unseen: Vec<usize> =
            entry.places.iter().filter(|place| place.assumed).map(|place| place.line).collect();
        unseen.sort_unstable();
        unseen.dedup();
        let mut found = Self {
            id: text(&entry.id),
            memoized: entry.memoized,
            in_reserve_for: entry.inside.as_deref().filter(|_| entry.memoized).map(text),
            followed: entry.followed,
            gradients: entry.gradients,
            header: text(&entry.header),
            file: text(file),
            line: entry.line,
            end_line: entry.end_line,
            places: places(py, &entry.places)?,
            note,
            function: text(&entry.function),
            binds: PyTuple::new(py, entry.binds.iter().map(|name| PyString::intern(py, name)))?.unbind(),
            differentiated: entry.differentiated,
            trains: entry.trains,
            writes: entry.writes,
            unseen: PyTuple::new(py, unseen)?.unbind(),
            counting: PyFrozenSet::empty(py)?.unbind(),
            start: None,
        };
        if let Some(start) = &entry.boundary {
            found.start = Some(Py::new(py, found.start(py, start)?)?);
        }
        Py::new(py, found)
    }

    /// The start of its iterations. A bar among what the loop itself runs over counts when it likes.
    fn start(&self, py: Python<'_>, start: &schema::Boundary) -> PyResult<Self> {
        let counting = start.places.iter().filter(|place| place.iterated && place.line == self.line);
        Ok(Self {
            id: PyString::new(py, &format!("{}{START}", self.id.bind(py))).unbind(),
            memoized: false,
            in_reserve_for: None,
            followed: false,
            gradients: start.gradients,
            header: self.header.clone_ref(py),
            file: self.file.clone_ref(py),
            line: self.line,
            end_line: self.end_line,
            places: places(py, &start.places)?,
            note: self.note.as_ref().map(|note| note.clone_ref(py)),
            function: self.function.clone_ref(py),
            binds: self.binds.clone_ref(py),
            differentiated: self.differentiated,
            trains: self.trains,
            writes: start.writes,
            unseen: self.unseen.clone_ref(py),
            counting: PyFrozenSet::new(py, counting.map(|place| &place.place))?.unbind(),
            start: None,
        })
    }
}

/// A place of a changeset.
#[pyclass(frozen, get_all, module = "florc._native")]
pub struct Place {
    name: Py<PyString>,
    mutated: bool,
    bound: bool,
    iterated: bool,
    by_name: bool,
    in_globals: bool,
}

fn places(py: Python<'_>, entries: &[schema::Place]) -> PyResult<Py<PyTuple>> {
    let place = |entry: &schema::Place| Place {
        // interned: looked up in the names of frames
        name: PyString::intern(py, &entry.place).unbind(),
        mutated: entry.mutated,
        bound: entry.bound,
        iterated: entry.iterated,
        by_name: entry.by_name,
        in_globals: entry.global,
    };
    let places: Vec<Py<Place>> = entries.iter().map(|entry| Py::new(py, place(entry))).collect::<PyResult<_>>()?;
    PyTuple::new(py, places).map(Bound::unbind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use florc::{Options, cli, plan_only};
    use std::path::{Path, PathBuf};

    fn python_files(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                python_files(&path, out);
            } else if path.extension().is_some_and(|extension| extension == "py") {
                out.push(path);
            }
        }
    }

    #[test]
    fn every_plan_comes_back_as_the_same_text_and_as_one_class_a_loop() {
        let mut files = Vec::new();
        python_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata"), &mut files);
        let mut seen = 0;
        Python::initialize();
        for path in files {
            let Ok(source) = cli::read_source(&path) else { continue };
            let Ok(plan) = plan_only(&source, &Options::default()) else { continue };
            let text = schema::Plan::new(&source, &plan).to_json();
            Python::attach(|py| {
                let plan = Plan::new(Arc::new(schema::Plan::from_json(&text).unwrap()));
                assert_eq!(plan.to_json(), text);
                let loops = plan.loops(py).unwrap().into_bound(py);
                assert_eq!(loops.len(), plan.plan.loops.len());
                for (made, entry) in loops.iter().zip(&plan.plan.loops) {
                    let made = made.cast::<Loop>().unwrap().get();
                    assert_eq!(made.places.bind(py).len(), entry.places.len());
                    assert_eq!(made.start.is_some(), entry.boundary.is_some());
                    seen += made.start.is_some() as usize;
                }
            });
        }
        assert!(seen > 100, "{seen}");
    }
}
