//! What the objects of a class are for a witness: known natively, or asked once.
use std::collections::HashSet;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple, PyType};

use crate::class_table::ClassTable;

/// How an object is read, besides its attributes.
#[derive(Debug)]
pub(super) enum Way {
    /// By its name alone.
    Leaf,
    /// By where it is: others look into it, in this process.
    Same,
    /// By its text: a dtype, a device.
    Text,
    /// By what a function of florc's makes of it.
    Reader(Py<PyAny>),
    /// A number of NumPy, by its bytes.
    Scalar,
    /// By `__reduce_ex__`: a class of C that shows nothing else, and whose objects do not change.
    Reduce,
    Array,
    Tensor,
    Function,
    Method,
    Builtin,
    Cell,
    Class,
    /// By its attributes, and what the collector says that it holds.
    Object,
}

/// The container or value that a class is, or is derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    List,
    Tuple,
    Dict,
    Set,
    Whole,
    Float,
    Text,
    Bytes,
    None,
}

#[derive(Debug)]
pub(super) struct Class {
    pub name: String,
    pub way: Way,
    pub base: Base,
    /// Whether it is of the script's modules.
    pub is_scripts: bool,
    /// Attributes that hold what is computed again: caches.
    pub caches: HashSet<String>,
    /// Numbers and texts that stand in the class: an attribute of an object that holds the same is as good as none.
    pub constants: Py<PyDict>,
    /// Whether it is exactly its base.
    pub is_exact: bool,
}

#[derive(Debug)]
pub(super) struct Classes {
    pub ask: Py<PyAny>,
    pub is_scripts: Py<PyAny>,
    pub known: ClassTable<Class>,
}

impl Classes {
    pub fn of(&self, class: &Bound<'_, PyType>) -> PyResult<Arc<Class>> {
        if let Some(known) = self.known.get(class) {
            return Ok(known);
        }
        let py = class.py();
        let module = named(class, "__module__")?;
        let is_scripts = module.is_instance_of::<PyString>() && self.is_scripts.bind(py).contains(&module)?;
        let mut name = format!("{}.{}", text_of(&module), text_of(&named(class, "__qualname__")?));
        let (base, is_exact) = base_of(class)?;
        type Asked<'py> = (Bound<'py, PyAny>, HashSet<String>, Py<PyDict>);
        let (asked, caches, constants): Asked<'_> = self.ask.bind(py).call1((class,))?.extract()?;
        let way = match asked.cast::<PyString>() {
            Ok(word) => match word.to_str()? {
                "leaf" => Way::Leaf,
                // whose place another one may take (`state/lapsed.py`)
                "iterator" => {
                    name = "iterator".to_owned();
                    Way::Leaf
                }
                "same" => Way::Same,
                "text" => Way::Text,
                "reduce" => Way::Reduce,
                "scalar" => Way::Scalar,
                "array" => Way::Array,
                "tensor" => Way::Tensor,
                "function" => Way::Function,
                "method" => Way::Method,
                "builtin" => Way::Builtin,
                "cell" => Way::Cell,
                "class" => Way::Class,
                "object" => Way::Object,
                word => return Err(PyValueError::new_err(format!("no object is read as {word}"))),
            },
            Err(_) => Way::Reader(asked.unbind()),
        };
        self.known.insert(class, Class { name, way, base, is_scripts, caches, constants, is_exact })
    }
}

impl Class {
    /// Whether an attribute says nothing of an object.
    pub fn leaves_out(&self, name: &str, part: &Bound<'_, PyAny>) -> bool {
        let is_constant = || {
            let constant = self.constants.bind(part.py()).get_item(name).ok()??;
            Some(constant.get_type().is(part.get_type()) && constant.eq(part).ok()?)
        };
        self.caches.contains(name) || is_constant().unwrap_or(false)
    }
}

fn base_of(class: &Bound<'_, PyType>) -> PyResult<(Base, bool)> {
    let py = class.py();
    let bases = [
        (Base::List, py.get_type::<PyList>()),
        (Base::Tuple, py.get_type::<PyTuple>()),
        (Base::Dict, py.get_type::<PyDict>()),
        (Base::Set, py.get_type::<PySet>()),
        (Base::Set, py.get_type::<PyFrozenSet>()),
        (Base::Whole, py.get_type::<PyInt>()),
        (Base::Float, py.get_type::<PyFloat>()),
        (Base::Text, py.get_type::<PyString>()),
        (Base::Bytes, py.get_type::<PyBytes>()),
    ];
    for (base, kind) in bases {
        // SAFETY: both are classes that are held; no code of a metaclass runs
        if unsafe { ffi::PyType_IsSubtype(class.as_ptr().cast(), kind.as_ptr().cast()) } != 0 {
            return Ok((base, class.is(&kind)));
        }
    }
    Ok((Base::None, false))
}

/// What a class is called, or which module it is of, without running code of its metaclass.
pub fn named<'py>(class: &Bound<'py, PyType>, what: &str) -> PyResult<Bound<'py, PyAny>> {
    let kinds = class.py().get_type::<PyType>();
    kinds.getattr("__dict__")?.get_item(what)?.call_method1("__get__", (class,))
}

pub(super) fn text_of(text: &Bound<'_, PyAny>) -> String {
    text.cast::<PyString>().ok().and_then(|text| text.to_str().ok()).unwrap_or("?").to_owned()
}
