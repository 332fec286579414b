//! The nodes of what a training state consists of, as the encoders in `state/*.py` would write them.
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PySet, PyString, PyTuple};
use std::sync::Arc;

use super::how::{Class, How};
use super::json::{dump, put, put_float, put_number, put_str};
use super::leaves::Leaf;
use super::numbers::packed;
use super::walk::Walk;

/// Longer lists and tuples of numbers are one leaf; longer tuples are never atoms.
const LONG_NUMBERS: usize = 64;
/// Longer byte strings are leaves.
const INLINE_BYTES: usize = 64;
const TABLES: [&str; 3] = ["_parameters", "_buffers", "_modules"];

/// Appends an atom, or a reference to an object's node.
pub(super) fn put_value(slf: &Bound<'_, Walk>, obj: &Bound<'_, PyAny>, out: &mut String) -> PyResult<()> {
    let class = slf.get().class_of(obj)?;
    if put_atom(slf.get(), obj, &class, out)? {
        return Ok(());
    }
    if class.how == How::Tuple && put_flat(slf, obj, out)? {
        return Ok(());
    }
    if class.how == How::Bytes {
        let bytes = obj.cast::<PyBytes>()?.as_bytes();
        if bytes.len() <= INLINE_BYTES {
            out.push_str("[\"b\",\"");
            bytes.iter().for_each(|byte| put(out, format_args!("{byte:02x}")));
            out.push_str("\"]");
            return Ok(());
        }
    }
    match Walk::reference(slf, obj, &class)? {
        Some(number) => {
            out.push('[');
            put_number(number, out);
            out.push(']');
        }
        None => out.push_str("[\"kept\"]"),
    }
    Ok(())
}

/// Appends an object without identity; false when it has one.
fn put_atom(walk: &Walk, obj: &Bound<'_, PyAny>, class: &Class, out: &mut String) -> PyResult<bool> {
    match class.how {
        How::None => out.push_str("null"),
        How::Bool => out.push_str(if obj.is_truthy()? { "true" } else { "false" }),
        How::Int => put_int(walk, obj, class, out)?,
        How::Float => {
            let value = obj.cast::<PyFloat>()?.value();
            if !value.is_finite() {
                return put_by_function(obj, class, out);
            }
            put_float(value, out);
        }
        How::Str => match obj.cast::<PyString>()?.to_str() {
            Ok(text) => {
                walk.note_text(text);
                put_str(text, out);
            }
            // lone surrogates
            Err(_) => return put_by_function(obj, class, out),
        },
        How::Atom => return put_by_function(obj, class, out),
        _ => return Ok(false),
    }
    Ok(true)
}

fn put_int(walk: &Walk, obj: &Bound<'_, PyAny>, class: &Class, out: &mut String) -> PyResult<()> {
    let mut overflow = 0;
    // SAFETY: an exact int, which is held; the call sets no error for those
    let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(obj.cast::<PyInt>()?.as_ptr(), &mut overflow) };
    if overflow == 0 {
        walk.note_number(value);
        put_number(value, out);
        return Ok(());
    }
    put_by_function(obj, class, out).map(|_| ())
}

fn put_by_function(obj: &Bound<'_, PyAny>, class: &Class, out: &mut String) -> PyResult<bool> {
    dump(&class.function.bind(obj.py()).call1((obj,))?, out)?;
    Ok(true)
}

/// Appends a short tuple of atoms; false, and nothing appended, for other tuples. Its identity is nobody's business.
fn put_flat(slf: &Bound<'_, Walk>, obj: &Bound<'_, PyAny>, out: &mut String) -> PyResult<bool> {
    let tuple = obj.cast::<PyTuple>()?;
    if tuple.len() > LONG_NUMBERS {
        return Ok(false);
    }
    let (walk, start) = (slf.get(), out.len());
    out.push_str("[\"t\"");
    for item in tuple.iter() {
        out.push(',');
        if !put_atom(walk, &item, &*walk.class_of(&item)?, out)? {
            out.truncate(start);
            return Ok(false);
        }
    }
    out.push(']');
    Ok(true)
}

/// `["list", [values]]` or `["tuple", [values]]`; long ones of nothing but numbers are one leaf.
pub(super) fn put_sequence(slf: &Bound<'_, Walk>, obj: &Bound<'_, PyAny>, how: How, out: &mut String) -> PyResult<()> {
    let kind = if how == How::List { "list" } else { "tuple" };
    if obj.len()? > LONG_NUMBERS {
        let first = obj.get_item(0)?;
        if first.is_exact_instance_of::<PyFloat>() || first.is_exact_instance_of::<PyInt>() {
            let walk = slf.get();
            if let Some((bytes, code)) = packed(walk, obj)? {
                let count = obj.len()?;
                let leaf = Leaf::Given { len: bytes.as_bytes().len(), leaf: bytes.into_any().unbind(), owner: None };
                let index = walk.found().add_leaf(leaf);
                put(out, format_args!("[\"numbers\",{index},\"{code}\",{count},\"{kind}\"]"));
                return Ok(());
            }
        }
    }
    out.push_str("[\"");
    out.push_str(kind);
    out.push_str("\",[");
    if let Ok(list) = obj.cast::<PyList>() {
        put_values(slf, list.iter(), out)?;
    } else {
        put_values(slf, obj.cast::<PyTuple>()?.iter(), out)?;
    }
    out.push_str("]]");
    Ok(())
}

fn put_values<'py>(
    slf: &Bound<'py, Walk>,
    values: impl Iterator<Item = Bound<'py, PyAny>>,
    out: &mut String,
) -> PyResult<()> {
    for (number, value) in values.enumerate() {
        if number > 0 {
            out.push(',');
        }
        put_value(slf, &value, out)?;
    }
    Ok(())
}

/// `["dict", [key, value, …]]`
pub(super) fn put_dict(slf: &Bound<'_, Walk>, obj: &Bound<'_, PyAny>, out: &mut String) -> PyResult<()> {
    let py = slf.py();
    if obj.cast::<PyDict>()?.contains(intern!(py, "__builtins__"))? {
        let module = slf.call_method1(intern!(py, "module_of_globals"), (obj,))?;
        if !module.is_none() {
            out.push_str("[\"globals\",");
            put_str(module.cast::<PyString>()?.to_str()?, out);
            out.push(']');
            return Ok(());
        }
    }
    out.push_str("[\"dict\",");
    put_items(slf, obj, out)?;
    out.push(']');
    Ok(())
}

/// `[key, value, …]`
fn put_items(slf: &Bound<'_, Walk>, obj: &Bound<'_, PyAny>, out: &mut String) -> PyResult<()> {
    out.push('[');
    let mut is_first = true;
    each_item(obj.cast::<PyDict>()?, |key, value| {
        if !std::mem::take(&mut is_first) {
            out.push(',');
        }
        put_value(slf, &key, out)?;
        out.push(',');
        put_value(slf, &value, out)
    })?;
    out.push(']');
    Ok(())
}

/// `["defaultdict", [key, value, …], factory]`
pub(super) fn put_defaultdict(slf: &Bound<'_, Walk>, obj: &Bound<'_, PyAny>, out: &mut String) -> PyResult<()> {
    out.push_str("[\"defaultdict\",");
    put_items(slf, obj, out)?;
    out.push(',');
    put_value(slf, &obj.getattr(intern!(slf.py(), "default_factory"))?, out)?;
    out.push(']');
    Ok(())
}

/// Appends the node of a set that nothing was ever put in; false for other sets.
pub(super) fn put_empty_set(slf: &Bound<'_, Walk>, obj: &Bound<'_, PyAny>, out: &mut String) -> PyResult<bool> {
    match slf.get().classes.get().empty_set() {
        Some(node) if is_untouched(obj) => out.push_str(node),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether no slot of a set's table was ever used: a set that was emptied remembers what it held.
pub(super) fn is_untouched(obj: &Bound<'_, PyAny>) -> bool {
    /// The table that lies in the set itself.
    const SMALL_MASK: isize = 7;
    if !obj.is_exact_instance_of::<PySet>() {
        return false;
    }
    // SAFETY: an exact set, which is held; `fill`, `used` and `mask` follow the head of the object in every version of CPython
    let [fill, used, mask] = unsafe { *obj.as_ptr().add(1).cast::<[isize; 3]>() };
    fill == 0 && used == 0 && mask == SMALL_MASK
}

/// `["object", module, class, [name, value, …], null]`
pub(super) fn put_object(
    slf: &Bound<'_, Walk>,
    obj: &Bound<'_, PyAny>,
    class: &Arc<Class>,
    out: &mut String,
) -> PyResult<()> {
    put_head("object", class, out);
    out.push('[');
    if let Some(attributes) = instance_dict(obj)? {
        put_named(slf, &attributes, &[], out)?;
    }
    out.push_str("],null]");
    Ok(())
}

/// `["torch.Module", module, class, [name, value, …], [parameters], [buffers], [modules]]`
pub(super) fn put_module(
    slf: &Bound<'_, Walk>,
    obj: &Bound<'_, PyAny>,
    class: &Arc<Class>,
    out: &mut String,
) -> PyResult<()> {
    let py = slf.py();
    let attributes = instance_dict(obj)?;
    let table = |name: &str| attributes.as_ref()?.get_item(name).ok()??.cast_into::<PyDict>().ok();
    let (Some(attributes), Some(parameters), Some(buffers), Some(modules)) =
        (&attributes, table(TABLES[0]), table(TABLES[1]), table(TABLES[2]))
    else {
        // it says why not
        return dump(&class.function.bind(py).call1((slf, obj))?, out);
    };
    put_head("torch.Module", class, out);
    out.push('[');
    put_named(slf, attributes, &TABLES, out)?;
    out.push(']');
    for table in [parameters, buffers, modules] {
        out.push_str(",[");
        let mut is_first = true;
        each_item(&table, |name, value| {
            if !std::mem::take(&mut is_first) {
                out.push(',');
            }
            put_value(slf, &name, out)?;
            out.push(',');
            put_value(slf, &value, out)
        })?;
        out.push(']');
    }
    out.push(']');
    Ok(())
}

fn put_head(kind: &str, class: &Class, out: &mut String) {
    out.push('[');
    for text in [kind, &class.name.0, &class.name.1] {
        put_str(text, out);
        out.push(',');
    }
}

/// `name,value,…` of every attribute that is state, but for those of `others`. Of hooks it is noted how many there are.
pub(super) fn put_named(
    slf: &Bound<'_, Walk>,
    attributes: &Bound<'_, PyDict>,
    others: &[&str],
    out: &mut String,
) -> PyResult<()> {
    let hooks = slf.get().hooks.bind(slf.py());
    let mut is_first = true;
    let mut count = 0;
    each_item(attributes, |name, value| {
        if hooks.contains(&name)? {
            count += value.cast::<PyDict>().map_or(0, |hooks| hooks.len());
            return Ok(());
        }
        if others.iter().any(|other| name.eq(*other).unwrap_or(false)) {
            return Ok(());
        }
        if !std::mem::take(&mut is_first) {
            out.push(',');
        }
        put_value(slf, &name, out)?;
        out.push(',');
        put_value(slf, &value, out)
    })?;
    slf.get().found().add_hooks(count);
    Ok(())
}

/// The attributes of an object, past any `__getattribute__` of its class.
pub fn instance_dict<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let py = obj.py();
    let name = intern!(py, "__dict__");
    // SAFETY: both objects are held; a new reference or an error comes back
    let found = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyObject_GenericGetAttr(obj.as_ptr(), name.as_ptr())) };
    match found {
        Ok(found) => Ok(found.cast_into::<PyDict>().ok()),
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyAttributeError>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Every item of a dict, in its order. PyO3's iterator panics where another thread changes the dict meanwhile.
fn each_item<'py>(
    dict: &Bound<'py, PyDict>,
    mut one: impl FnMut(Bound<'py, PyAny>, Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    let py = dict.py();
    let len = dict.len();
    let mut position = 0;
    loop {
        let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the dict is held, `position` is only ever given to this call, and the borrowed references become owned
        // ones before anything else runs
        let item = unsafe {
            if ffi::PyDict_Next(dict.as_ptr(), &mut position, &mut key, &mut value) == 0 {
                return Ok(());
            }
            (Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value))
        };
        one(item.0, item.1)?;
        if dict.len() != len {
            return Err(PyRuntimeError::new_err("a dict changed while it was copied"));
        }
    }
}
