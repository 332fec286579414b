//! `florc._native.Readings`: how objects are looked into, by class.
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySet};

use super::classes::{Classes, How, Limits, Parts};
use super::keys::{Key, Value};
use super::parts;
use crate::class_table::ClassTable;

/// How objects are looked into. Python is asked once for each class: `ask(class)` is (names of the ways, slots, whether the class
/// is the user's). `read(object)` reads what is not read here, `versions(tensor)` tells states of a tensor apart whose class is not
/// torch's, `registered(class)` says what an abstract class knows; `files`: the user's.
#[pyclass(frozen, module = "florc._native")]
#[derive(Debug)]
pub struct Readings {
    pub(super) classes: Classes,
    read: Py<PyAny>,
}

#[pymethods]
impl Readings {
    #[new]
    fn new(
        ask: Py<PyAny>,
        read: Py<PyAny>,
        version: Py<PyAny>,
        registered: Py<PyAny>,
        files: Py<PySet>,
        limits: Limits,
    ) -> Readings {
        let known = ClassTable::default();
        Readings { classes: Classes { ask, version, registered, files, limits, known }, read }
    }

    /// What an object holds, by key; None for one that is not looked into.
    fn parts<'py>(&self, obj: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.of(obj)?.map(|parts| to_dict(obj.py(), &parts)).transpose()
    }
}

impl Readings {
    pub(super) fn of(&self, obj: &Bound<'_, PyAny>) -> PyResult<Option<Parts>> {
        let reading = self.classes.reading(&obj.get_type())?;
        let mut found = Parts::new();
        for how in &reading.how {
            let is_read = match how {
                How::Python => self.by_python(obj, &mut found)?,
                How::Instance => parts::of_instance(obj, &reading, &mut found)?,
                _ => parts::read(&self.classes, obj, *how, &mut found)?,
            };
            if !is_read {
                return Ok(None);
            }
        }
        if reading.is_ours && !reading.how.is_empty() {
            // which no name may lead to: it was made in a function
            found.push((Key::Told("(class)"), Value::of(obj.get_type().as_any())));
        }
        Ok((!reading.how.is_empty()).then_some(found))
    }

    fn by_python(&self, obj: &Bound<'_, PyAny>, out: &mut Parts) -> PyResult<bool> {
        let found = self.read.bind(obj.py()).call1((obj,))?;
        let Ok(found) = found.cast_into::<PyDict>() else { return Ok(false) };
        out.extend(found.iter().map(|(key, part)| (Key::Given(key.unbind()), Value::of(&part))));
        Ok(true)
    }
}

pub(super) fn to_dict<'py>(py: Python<'py>, parts: &Parts) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (key, value) in parts {
        found.set_item(key.to_python(py)?, value.to_python(py)?)?;
    }
    Ok(found)
}
