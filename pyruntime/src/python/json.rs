//! JSON between Python and text, as the module `json` has it: importing that takes longer than the start of a short recording.
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value;

use crate::encode::put_str;

/// Deeper values are left to Python, which has a limit of its own.
const DEEPEST: usize = 100;

/// The text of a value of dicts with texts as keys, lists, tuples, texts, numbers, bools and None, as `json.dumps` writes it;
/// `indent`: blanks for each level, 0 for all in one line.
///
/// # Errors
/// TypeError for anything else, and for what is nested too deeply.
#[pyfunction]
pub fn to_json(value: &Bound<'_, PyAny>, indent: usize) -> PyResult<String> {
    let mut out = String::new();
    Writer { out: &mut out, indent }.put(value, 1)?;
    Ok(out)
}

/// The value of a text that the native half wrote.
///
/// # Errors
/// ValueError where it is no JSON.
#[pyfunction]
pub fn from_json<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let value: Value = serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    to_python(py, &value)
}

/// A JSON value as Python's `json.loads` gives it.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(is) => PyBool::new(py, *is).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (_, Some(number)) => number.into_pyobject(py)?.into_any(),
            _ => PyFloat::new(py, number.as_f64().unwrap_or_default()).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(items) => {
            let dict = PyDict::new(py);
            for (key, item) in items {
                dict.set_item(key, to_python(py, item)?)?;
            }
            dict.into_any()
        }
    })
}

struct Writer<'a> {
    out: &'a mut String,
    indent: usize,
}

impl Writer<'_> {
    fn put(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if depth > DEEPEST {
            return Err(PyTypeError::new_err("nested too deeply"));
        }
        if let Ok(text) = value.cast_exact::<PyString>() {
            self.text(text)?;
        } else if value.is_none() {
            self.out.push_str("null");
        } else if let Ok(is) = value.cast_exact::<PyBool>() {
            self.out.push_str(if is.is_true() { "true" } else { "false" });
        } else if value.is_exact_instance_of::<PyInt>() {
            self.out.push_str(value.str()?.to_str()?);
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            let number = number.value();
            match () {
                () if number.is_nan() => self.out.push_str("NaN"),
                () if number.is_infinite() => self.out.push_str(if number > 0.0 { "Infinity" } else { "-Infinity" }),
                () => self.out.push_str(value.repr()?.to_str()?),
            }
        } else if let Ok(items) = value.cast_exact::<PyDict>() {
            let items = items.iter().map(|(key, item)| (Some(key), item));
            self.items(('{', '}'), items, depth)?;
        } else if let Ok(items) = value.cast_exact::<PyList>() {
            self.items(('[', ']'), items.iter().map(|item| (None, item)), depth)?;
        } else if let Ok(items) = value.cast_exact::<PyTuple>() {
            self.items(('[', ']'), items.iter().map(|item| (None, item)), depth)?;
        } else {
            return Err(PyTypeError::new_err("another type"));
        }
        Ok(())
    }

    fn items<'py>(
        &mut self,
        (open, close): (char, char),
        items: impl Iterator<Item = (Option<Bound<'py, PyAny>>, Bound<'py, PyAny>)>,
        depth: usize,
    ) -> PyResult<()> {
        self.out.push(open);
        let mut is_empty = true;
        for (key, item) in items {
            if !is_empty {
                self.out.push_str(if self.indent > 0 { "," } else { ", " });
            }
            is_empty = false;
            self.line(depth);
            if let Some(key) = key {
                self.text(key.cast_exact::<PyString>()?)?;
                self.out.push_str(": ");
            }
            self.put(&item, depth + 1)?;
        }
        if !is_empty {
            self.line(depth - 1);
        }
        self.out.push(close);
        Ok(())
    }

    fn line(&mut self, depth: usize) {
        if self.indent > 0 {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', depth * self.indent));
        }
    }

    /// # Errors
    /// TypeError for lone surrogates.
    fn text(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let text = text.to_str().map_err(|_| PyTypeError::new_err("lone surrogates"))?;
        put_str(text, self.out);
        Ok(())
    }
}
