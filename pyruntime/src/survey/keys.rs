//! Under which key an object holds a part, and what the part is.
use std::fmt::Write;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};

use crate::encode::put_str;

/// A key as `survey/readers.py` spells it.
#[derive(Debug)]
pub(super) enum Key {
    /// A name of a function or a file, as it is.
    Name(Py<PyAny>),
    /// `.name`: an attribute.
    Attribute(Py<PyAny>),
    /// `.__defaults__[n]`: what a parameter is without an argument.
    Default(usize),
    /// `.__kwdefaults__[name]`: the same, of one that is given by name only.
    KeywordDefault(Py<PyAny>),
    /// `.__closure__[name]`: a name of the function around it.
    Cell(Py<PyAny>),
    /// `("item", n)`, from the end where `n` is negative.
    Item(isize),
    /// `("item", key)`, of a dict.
    Entry(Py<PyAny>),
    /// `("item", ("key", n))`: of a dict, under a key that is an object.
    EntryAt(isize),
    /// What is told of the object itself: `(length)`.
    Told(&'static str),
    /// What a reader in Python calls it.
    Given(Py<PyAny>),
}

impl Key {
    pub(super) fn clone_ref(&self, py: Python<'_>) -> Key {
        match self {
            Key::Name(name) => Key::Name(name.clone_ref(py)),
            Key::Attribute(name) => Key::Attribute(name.clone_ref(py)),
            Key::Entry(key) => Key::Entry(key.clone_ref(py)),
            Key::Given(key) => Key::Given(key.clone_ref(py)),
            Key::KeywordDefault(name) => Key::KeywordDefault(name.clone_ref(py)),
            Key::Cell(name) => Key::Cell(name.clone_ref(py)),
            Key::Default(n) => Key::Default(*n),
            Key::Item(n) => Key::Item(*n),
            Key::EntryAt(n) => Key::EntryAt(*n),
            Key::Told(what) => Key::Told(what),
        }
    }

    pub(super) fn is_same(&self, py: Python<'_>, other: &Key) -> bool {
        match (self, other) {
            (Key::Name(a), Key::Name(b))
            | (Key::Attribute(a), Key::Attribute(b))
            | (Key::KeywordDefault(a), Key::KeywordDefault(b))
            | (Key::Cell(a), Key::Cell(b)) => a.is(b) || is_equal(a.bind(py), b.bind(py)),
            (Key::Entry(a), Key::Entry(b)) | (Key::Given(a), Key::Given(b)) => {
                a.is(b) || a.bind(py).get_type().is(b.bind(py).get_type()) && is_equal(a.bind(py), b.bind(py))
            }
            (Key::Default(a), Key::Default(b)) => a == b,
            (Key::Item(a), Key::Item(b)) | (Key::EntryAt(a), Key::EntryAt(b)) => a == b,
            (Key::Told(a), Key::Told(b)) => a == b,
            _ => false,
        }
    }

    pub(super) fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let item =
            |key: Bound<'py, PyAny>| Ok(PyTuple::new(py, ["item".into_pyobject(py)?.into_any(), key])?.into_any());
        match self {
            Key::Name(name) | Key::Given(name) => Ok(name.bind(py).clone()),
            Key::Attribute(name) => Ok(PyString::new(py, &format!(".{}", name.bind(py).str()?.to_cow()?)).into_any()),
            Key::Default(n) => Ok(PyString::new(py, &format!(".__defaults__[{n}]")).into_any()),
            Key::KeywordDefault(name) => {
                Ok(PyString::new(py, &format!(".__kwdefaults__[{}]", name.bind(py).str()?.to_cow()?)).into_any())
            }
            Key::Cell(name) => {
                Ok(PyString::new(py, &format!(".__closure__[{}]", name.bind(py).str()?.to_cow()?)).into_any())
            }
            Key::Item(n) => item(n.into_pyobject(py)?.into_any()),
            Key::Entry(key) => item(key.bind(py).clone()),
            Key::EntryAt(n) => item(("key", *n).into_pyobject(py)?.into_any()),
            Key::Told(what) => Ok(PyString::new(py, what).into_any()),
        }
    }

    /// Appends the key as JSON; false where JSON cannot spell it.
    pub(super) fn put_json(&self, py: Python<'_>, out: &mut String) -> PyResult<bool> {
        match self {
            Key::Name(_)
            | Key::Attribute(_)
            | Key::Default(_)
            | Key::KeywordDefault(_)
            | Key::Cell(_)
            | Key::Told(_) => {
                let text = self.to_python(py)?;
                let Ok(text) = text.cast::<PyString>()?.to_str() else { return Ok(false) };
                put_str(text, out);
            }
            Key::Item(n) => put(out, format_args!("[\"item\",{n}]")),
            Key::Entry(key) => {
                let (key, start) = (key.bind(py), out.len());
                out.push_str("[\"item\",");
                if key.is_none() {
                    out.push_str("null");
                } else if key.is_exact_instance_of::<PyBool>() {
                    out.push_str(if key.is_truthy()? { "true" } else { "false" });
                } else if key.is_exact_instance_of::<PyInt>() {
                    put(out, format_args!("{key}"));
                } else if key.is_exact_instance_of::<PyString>()
                    && let Ok(text) = key.cast::<PyString>()?.to_str()
                {
                    put_str(text, out);
                } else {
                    out.truncate(start);
                    return Ok(false);
                }
                out.push(']');
            }
            Key::Given(key) => {
                let key = key.bind(py);
                if let Ok(text) = key.cast::<PyString>() {
                    let Ok(text) = text.to_str() else { return Ok(false) };
                    put_str(text, out);
                    return Ok(true);
                }
                let Ok((_, key)) = key.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else { return Ok(false) };
                return Key::Entry(key.unbind()).put_json(py, out);
            }
            Key::EntryAt(_) => return Ok(false),
        }
        Ok(true)
    }
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // writing into a text does not fail
    let _ = out.write_fmt(text);
}

/// Of objects of the atoms' classes, and of texts: nothing of the user's runs.
fn is_equal(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> bool {
    if let (Ok(one), Ok(two)) = (a.cast_exact::<PyFloat>(), b.cast_exact::<PyFloat>()) {
        return one.value().to_bits() == two.value().to_bits(); // 0.0 and -0.0 are two numbers
    }
    a.eq(b).unwrap_or(false)
}

/// A part of an object, held while it is looked at.
#[derive(Debug)]
pub(super) enum Value {
    /// An object of a class whose objects hold nothing and never change.
    Atom(Py<PyAny>),
    /// What tells two states of the object itself apart.
    Number(i64),
    Object(Py<PyAny>),
}

impl Value {
    pub(super) fn of(part: &Bound<'_, PyAny>) -> Value {
        if is_atom(part) && !is_nan(part) {
            Value::Atom(part.clone().unbind())
        } else {
            Value::Object(part.clone().unbind())
        }
    }

    pub(super) fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Value::Atom(part) | Value::Object(part) => part.bind(py).clone(),
            Value::Number(number) => number.into_pyobject(py)?.into_any(),
        })
    }
}

/// What is kept of a part: nothing that keeps an object of the script's alive.
#[derive(Debug)]
pub(super) enum Kept {
    Atom(Py<PyAny>),
    Number(i64),
    Address(usize),
}

impl Kept {
    pub(super) fn of(py: Python<'_>, value: &Value) -> Kept {
        match value {
            Value::Atom(atom) => Kept::Atom(atom.clone_ref(py)),
            Value::Number(number) => Kept::Number(*number),
            Value::Object(object) => Kept::Address(object.as_ptr() as usize),
        }
    }

    pub(super) fn is_same(&self, py: Python<'_>, now: &Value) -> bool {
        match (self, now) {
            (Kept::Atom(a), Value::Atom(b)) => {
                a.is(b) || a.bind(py).get_type().is(b.bind(py).get_type()) && is_equal(a.bind(py), b.bind(py))
            }
            (Kept::Number(a), Value::Number(b)) => a == b,
            (Kept::Address(a), Value::Object(b)) => *a == b.as_ptr() as usize,
            _ => false,
        }
    }

    pub(super) fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Kept::Atom(atom) => atom.bind(py).clone(),
            Kept::Number(number) => number.into_pyobject(py)?.into_any(),
            Kept::Address(address) => address.into_pyobject(py)?.into_any(),
        })
    }
}

/// Whether an object's class is one of `readers.ATOMS`.
pub(super) fn is_atom(obj: &Bound<'_, PyAny>) -> bool {
    let class = obj.get_type_ptr();
    let atoms = [
        &raw mut ffi::PyUnicode_Type,
        &raw mut ffi::PyLong_Type,
        &raw mut ffi::PyBool_Type,
        &raw mut ffi::PyFloat_Type,
        &raw mut ffi::PyBytes_Type,
        &raw mut ffi::PyComplex_Type,
    ];
    atoms.contains(&class) || obj.is_none() || obj.is(obj.py().Ellipsis())
}

/// Not equal to itself: it is known by where it is.
fn is_nan(obj: &Bound<'_, PyAny>) -> bool {
    obj.is_exact_instance_of::<PyFloat>() && obj.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan())
}
