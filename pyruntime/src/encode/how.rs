//! How objects of a class are encoded, and what is known of the class.
use pyo3::prelude::*;

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
    Set,
    DefaultDict,
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
    pub(super) fn named(name: &str) -> Option<How> {
        Some(match name {
            "atom" => How::Atom,
            "bytes" => How::Bytes,
            "defaultdict" => How::DefaultDict,
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
