//! What is done with an object of a class: decided in Python once for each class of a state.
use std::sync::{Arc, Mutex, OnceLock};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PySet, PyString, PyTuple, PyType};

use super::found::Found;
use super::how::{Class, How};
use crate::class_table::{Addresses, ClassTable};
use crate::locks::lock;

/// `florc._native.Classes`: how objects are encoded, by class. It is asked in Python once for each class:
/// `classify(class, object)` is `(how, function, module, name)`.
#[pyclass(frozen, module = "florc._native")]
#[derive(Debug)]
pub struct Classes {
    classify: Py<PyAny>,
    known: ClassTable<Class>,
    /// The node of a set that nothing was ever put in; each module of torch has one.
    empty_set: OnceLock<String>,
    /// The emptied memory of a walk that is over.
    spare: Mutex<Option<Found>>,
    memories: Mutex<Memories>,
}

/// Where the memory of tensors was in earlier walks: most have the same at each checkpoint, and then nobody is asked who else uses it.
#[derive(Debug, Default)]
struct Memories {
    /// How many walks there were.
    walks: u64,
    /// By the address of a tensor: the address of its memory, and the first walk that found it there.
    known: Addresses<(usize, u64)>,
}

/// More tensors are not remembered: their addresses are those of objects that are gone.
const MOST_MEMORIES: usize = 1 << 18;

#[pymethods]
impl Classes {
    #[new]
    fn new(classify: Py<PyAny>) -> Classes {
        Classes {
            classify,
            known: ClassTable::default(),
            empty_set: OnceLock::new(),
            spare: Mutex::default(),
            memories: Mutex::default(),
        }
    }

    /// How many walks there were so far.
    #[getter]
    fn walks(&self) -> u64 {
        lock(&self.memories).walks
    }
}

impl Classes {
    pub(super) fn of(&self, obj: &Bound<'_, PyAny>) -> PyResult<Arc<Class>> {
        let class = obj.get_type();
        if let Some(known) = self.known.get(&class) {
            return Ok(known);
        }
        let mut asked = ask(self.classify.bind(obj.py()), &class, obj)?;
        if let Some(how) = builtin(obj) {
            asked.how = how;
        }
        self.known.insert(&class, asked)
    }

    pub(super) fn begin_walk(&self) {
        let mut memories = lock(&self.memories);
        memories.walks += 1;
        if memories.known.len() > MOST_MEMORIES {
            memories.known.clear();
        }
    }

    /// Whether the tensor at an address had this memory in one of the first `since` walks, and in every one after that. Where another
    /// tensor was at the address then, the memory was given back meanwhile: nobody else had it.
    pub(super) fn had_memory(&self, tensor: usize, memory: usize, since: u64) -> bool {
        let mut memories = lock(&self.memories);
        let now = memories.walks;
        let known = memories.known.entry(tensor).or_insert((memory, now));
        if known.0 != memory {
            *known = (memory, now);
        }
        known.1 <= since
    }

    pub(super) fn take_spare(&self) -> Option<Found> {
        lock(&self.spare).take()
    }

    pub(super) fn keep_spare(&self, found: Found) {
        let before = lock(&self.spare).replace(found);
        drop(before);
    }

    pub(super) fn empty_set(&self) -> Option<&str> {
        self.empty_set.get().map(String::as_str)
    }

    pub(super) fn keep_empty_set(&self, node: &str) {
        self.empty_set.get_or_init(|| node.to_string());
    }
}

fn ask(classify: &Bound<'_, PyAny>, class: &Bound<'_, PyType>, obj: &Bound<'_, PyAny>) -> PyResult<Class> {
    let (how, function, module, name): (String, Py<PyAny>, String, String) = classify.call1((class, obj))?.extract()?;
    let how = How::named(&how).ok_or_else(|| PyValueError::new_err(format!("no way to encode is called {how}")))?;
    Ok(Class { how, function, name: (module, name) })
}

/// The builtin classes that need no question.
fn builtin(obj: &Bound<'_, PyAny>) -> Option<How> {
    if obj.is_none() {
        Some(How::None)
    } else if obj.is_exact_instance_of::<PyBool>() {
        Some(How::Bool)
    } else if obj.is_exact_instance_of::<PyString>() {
        Some(How::Str)
    } else if obj.is_exact_instance_of::<PyFloat>() {
        Some(How::Float)
    } else if obj.is_exact_instance_of::<PyInt>() {
        Some(How::Int)
    } else if obj.is_exact_instance_of::<PyTuple>() {
        Some(How::Tuple)
    } else if obj.is_exact_instance_of::<PyList>() {
        Some(How::List)
    } else if obj.is_exact_instance_of::<PyDict>() {
        Some(How::Dict)
    } else if obj.is_exact_instance_of::<PySet>() {
        Some(How::Set)
    } else {
        None
    }
}
