//! What Python decided about classes: how their objects are read.
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PySet, PyType};

use super::keys::{Key, Value};
use crate::class_table::ClassTable;

/// What an object holds, by key.
pub(super) type Parts = Vec<(Key, Value)>;

/// One way to read an object; `survey/scopes.py` names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    List,
    Tuple,
    Deque,
    Dict,
    Set,
    Instance,
    Function,
    Class,
    Module,
    Optimizer,
    Tensor,
    /// By `read(object)` in Python.
    Python,
}

impl How {
    fn named(name: &str) -> PyResult<How> {
        Ok(match name {
            "list" => How::List,
            "tuple" => How::Tuple,
            "deque" => How::Deque,
            "dict" => How::Dict,
            "set" => How::Set,
            "instance" => How::Instance,
            "function" => How::Function,
            "class" => How::Class,
            "module" => How::Module,
            "optimizer" => How::Optimizer,
            "tensor" => How::Tensor,
            "python" => How::Python,
            _ => return Err(PyValueError::new_err(format!("no way to read an object is called {name}"))),
        })
    }
}

/// What Python decided about a class.
#[derive(Debug)]
pub(super) struct Reading {
    /// One after the other; none for objects that are not looked into.
    pub how: Vec<How>,
    /// Names and descriptors of the slots of its objects.
    pub slots: Vec<(Py<PyAny>, Py<PyAny>)>,
    /// Whether the class is the user's.
    pub is_ours: bool,
}

/// How much of an object is read (`survey/limits.py`).
#[derive(Debug, Clone, Copy, FromPyObject)]
pub(super) struct Limits {
    pub objects: usize,
    pub ways: usize,
    pub passes: usize,
    pub items: usize,
}

/// Python is asked once for each class.
#[derive(Debug)]
pub(super) struct Classes {
    /// Of a class: names of the ways, slots, whether it is the user's.
    pub ask: Py<PyAny>,
    /// Tells states of a tensor apart whose class is not torch's.
    pub version: Py<PyAny>,
    /// What an abstract class knows.
    pub registered: Py<PyAny>,
    /// The user's.
    pub files: Py<PySet>,
    pub limits: Limits,
    pub known: ClassTable<Reading>,
}

impl Classes {
    pub fn reading(&self, class: &Bound<'_, PyType>) -> PyResult<Arc<Reading>> {
        if let Some(known) = self.known.get(class) {
            return Ok(known);
        }
        type Asked = (Vec<String>, Vec<(Py<PyAny>, Py<PyAny>)>, bool);
        let (how, slots, is_ours): Asked = self.ask.bind(class.py()).call1((class,))?.extract()?;
        let how = how.iter().map(|name| How::named(name)).collect::<PyResult<_>>()?;
        self.known.insert(class, Reading { how, slots, is_ours })
    }
}
