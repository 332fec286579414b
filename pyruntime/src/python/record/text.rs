//! What the fields of a record hold that Rust has no type for.
use std::fmt;

use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

/// A text as Python has it: also one with lone surrogates, which stand for bytes of file names and of output that are no UTF-8.
/// Held as UTF-8 in which a surrogate is three bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Vec<u8>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // as bytes: serde_json then takes surrogates, too
        deserializer.deserialize_bytes(Bytes)
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
        Ok(Text(bytes.to_vec()))
    }
}

impl<'py> IntoPyObject<'py> for &Text {
    type Target = PyString;
    type Output = Bound<'py, PyString>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => Ok(PyString::new(py, text)),
            Err(_) => {
                let bytes = PyBytes::new(py, &self.0);
                PyString::from_encoded_object(&bytes, Some(c_str!("utf-8")), Some(c_str!("surrogatepass")))
            }
        }
    }
}

impl<'py> IntoPyObject<'py> for Text {
    type Target = PyString;
    type Output = Bound<'py, PyString>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        (&self).into_pyobject(py)
    }
}

/// Any value; Python reads it when it is asked for.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl<'py> IntoPyObject<'py> for Json {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        py.import("json")?.call_method1("loads", (self.0.get(),))
    }
}
