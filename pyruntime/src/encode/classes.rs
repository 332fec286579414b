//! What is done with an object of a class: decided in Python once for each class of a state.
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCFunction, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType, PyWeakrefReference};

use crate::locks::lock;

/// How objects of a class are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    None,
    Bool,
    Int,
    Float,
    Str,
    /// Without identity, by a function in Python.
    Atom,
    Bytes,
    Tuple,
    List,
    Dict,
    Tensor,
    Module,
    Object,
    /// By a function in Python.
    Node,
    /// By a function in Python, after everything that is not light.
    Light,
    /// By a function in Python, last of all.
    Weak,
}

impl How {
    fn named(name: &str) -> Option<How> {
        Some(match name {
            "atom" => How::Atom,
            "bytes" => How::Bytes,
            "tensor" => How::Tensor,
            "module" => How::Module,
            "object" => How::Object,
            "node" => How::Node,
            "light" => How::Light,
            "weak" => How::Weak,
            _ => return None,
        })
    }
}

/// What Python decided about a class.
#[derive(Debug)]
pub(super) struct Class {
    pub how: How,
    /// The encoder in Python: of an atom `(object)`, of a node `(encoder, object)`.
    pub function: Py<PyAny>,
    /// Module and name, or two empty texts where nobody asks.
    pub name: (String, String),
}

/// `florc._native.Classes`: how objects are encoded, by class. It is asked in Python once for each class:
/// `classify(class, object)` is `(how, function, module, name)`.
#[pyclass(frozen, module = "florc._native")]
#[derive(Debug)]
pub struct Classes {
    classify: Py<PyAny>,
    /// By address. A class that dies takes its entry along: nothing here keeps what the script made alive.
    known: Arc<Mutex<Known>>,
}

#[pymethods]
impl Classes {
    #[new]
    fn new(classify: Py<PyAny>) -> Classes {
        Classes { classify, known: Arc::default() }
    }
}

impl Classes {
    pub(super) fn of(&self, obj: &Bound<'_, PyAny>) -> PyResult<Arc<Class>> {
        let class = obj.get_type();
        let address = class.as_ptr() as usize;
        if let Some((_, known)) = self.known().get(&address) {
            return Ok(Arc::clone(known));
        }
        let mut asked = ask(self.classify.bind(obj.py()), &class, obj)?;
        if let Some(how) = builtin(obj) {
            asked.how = how;
        }
        let asked = Arc::new(asked);
        let guard = self.guard(&class, address)?;
        let mut known = self.known();
        let forgotten = if known.len() >= MOST_CLASSES { std::mem::take(&mut *known) } else { Known::default() };
        let before = known.insert(address, (guard, Arc::clone(&asked)));
        drop(known);
        drop((forgotten, before));
        Ok(asked)
    }

    /// A weak reference that removes the class's entry when the class is gone, before its address is another's.
    fn guard(&self, class: &Bound<'_, PyType>, address: usize) -> PyResult<Py<PyWeakrefReference>> {
        let known = Arc::clone(&self.known);
        let gone = PyCFunction::new_closure(class.py(), None, None, move |_, _| {
            let entry = lock(&known).remove(&address);
            drop(entry);
        })?;
        Ok(PyWeakrefReference::new_with(class, gone)?.unbind())
    }

    /// Never held while Python runs.
    fn known(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
    }
}

type Known = HashMap<usize, (Py<PyWeakrefReference>, Arc<Class>), BuildHasherDefault<AddressHasher>>;

/// A program that makes classes in a loop is not to fill the memory.
const MOST_CLASSES: usize = 5000;

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
    } else {
        None
    }
}

/// Addresses differ in their middle bits.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, value: usize) {
        // Fibonacci hashing; the table looks at both ends of the result
        let mixed = (self.0 ^ value as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
