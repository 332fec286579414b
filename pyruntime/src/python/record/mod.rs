//! One entry of a journal, as a value: `florc._native.Checkpoint`, `florc._native.Iteration`, ….
mod kinds;
mod text;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use serde::de::IgnoredAny;
use serde_json::{Error, from_str};

use self::kinds::*;

macro_rules! record {
    ($($kind:literal => $name:ident,)* unread: $($unread:literal,)*) => {
        /// Every kind that is written or ever was: `_RecordKind` of `_native.pyi`.
        #[cfg(test)]
        const KINDS: &[&str] = &[$($kind,)* $($unread,)*];

        /// One entry of a journal: a class a kind.
        #[derive(Debug)]
        pub enum Record {
            $(#[doc = $kind] $name($name),)*
            /// Of a kind that nothing reads, or that a later version of florc wrote.
            Other,
        }

        impl Record {
            /// An entry from its kind and its text.
            ///
            /// # Errors
            /// What is amiss with the text.
            pub fn read(kind: &str, payload: &str) -> Result<Self, Error> {
                Ok(match kind {
                    $($kind => Self::$name(from_str(payload)?),)*
                    _ => {
                        let IgnoredAny = from_str(payload)?;
                        Self::Other
                    }
                })
            }

            fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                match self {
                    $(Self::$name(record) => record.into_py_any(py),)*
                    Self::Other => Ok(py.None()),
                }
            }
        }

        /// The class of a kind, by its name in Python.
        pub fn class<'py>(py: Python<'py>, name: &str) -> Option<Bound<'py, PyType>> {
            $(if name == stringify!($name) {
                return Some(py.get_type::<$name>());
            })*
            None
        }
    };
}

record! {
    "checkpoint" => Checkpoint,
    "dropped" => Dropped,
    "line" => Line,
    "lines" => Lines,
    "errors" => Errors,
    "child lines" => ChildLines,
    "iteration" => Iteration,
    "value" => Value,
    "no numbers" => NoNumbers,
    "no iteration" => NoIteration,
    "block" => Block,
    "entered" => Entered,
    "entered elsewhere" => EnteredElsewhere,
    "inputs" => Inputs,
    "inputs end" => InputsEnd,
    "names" => Names,
    "file" => File,
    "folder" => Folder,
    "read" => Read,
    "source" => Source,
    "plan" => Planned,
    "left alone" => LeftAlone,
    "generator" => Generator,
    "clocks" => Clocks,
    "circumstances" => Circumstances,
    "distributions" => Distributions,
    "variables" => Variables,
    "interrupted" => Interrupted,
    "spawned" => Spawned,
    "lost" => Lost,
    "tracked" => Tracked,
    "argument" => Argument,
    "not kept" => NotKept,
    "end" => End,
    unread:
    "run",
    "stopped",
    "lost checkpoint",
}

/// An entry of a journal from its kind and its text; None for a kind that nothing reads.
///
/// # Errors
/// ValueError where the text is not one of this kind.
#[pyfunction]
pub fn read_record(py: Python<'_>, kind: &str, payload: &str) -> PyResult<Py<PyAny>> {
    Record::read(kind, payload).map_err(|error| PyValueError::new_err(error.to_string()))?.into_python(py)
}

#[cfg(test)]
mod tests;
