//! What objects hold, by key: of containers, of instances, functions and classes of the user's, of torch's modules, optimizers and
//! tensors. No method, property or hash of the user's runs.
use pyo3::PyTypeInfo;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PyMappingProxy, PyModule, PyString, PyTuple, PyType};

use super::classes::{Classes, How, Parts, Reading};
use super::keys::{Key, Value, is_atom};
use crate::encode::instance_dict;
use crate::witness::each_item;

/// Reads an object in one way; false for one that is not looked into.
pub(super) fn read(classes: &Classes, obj: &Bound<'_, PyAny>, how: How, out: &mut Parts) -> PyResult<bool> {
    let items = classes.limits.items;
    match how {
        How::List => of_list(obj.cast::<PyList>()?, items, out)?,
        How::Tuple => of_tuple(obj.cast::<PyTuple>()?, items, out)?,
        How::Deque => {
            // by the class itself, without the methods of a class derived from it
            let iterator = obj.py().import("collections")?.getattr("deque")?.call_method1("__iter__", (obj,))?;
            let copy = PyList::type_object(obj.py()).call1((iterator,))?;
            of_list(copy.cast::<PyList>()?, items, out)?;
        }
        How::Dict => of_dict(obj.cast::<PyDict>()?, items, out)?,
        How::Set => of_set(obj, items, out)?,
        How::Function => return of_function(classes, obj, out),
        How::Class => return of_class(classes, obj, out),
        How::Module => of_module(obj, out)?,
        How::Optimizer => of_optimizer(classes, obj, out)?,
        How::Tensor => {
            out.push((Key::Told("(data)"), Value::Number(version(classes, obj)?)));
            if let Some(own) = instance_dict(obj)? {
                put_attributes(&own, out);
            }
        }
        How::Instance | How::Python => {}
    }
    Ok(true)
}

/// Of longer ones the length and both ends.
fn of_list(list: &Bound<'_, PyList>, most: usize, out: &mut Parts) -> PyResult<()> {
    each_index(list.len(), most, |index, key| {
        if let Ok(item) = list.get_item(index) {
            out.push((Key::Item(key), Value::of(&item)));
        }
    });
    out.push((Key::Told("(length)"), Value::Number(list.len() as i64)));
    Ok(())
}

fn of_tuple(tuple: &Bound<'_, PyTuple>, most: usize, out: &mut Parts) -> PyResult<()> {
    each_index(tuple.len(), most, |index, key| {
        if let Ok(item) = tuple.get_item(index) {
            out.push((Key::Item(key), Value::of(&item)));
        }
    });
    out.push((Key::Told("(length)"), Value::Number(tuple.len() as i64)));
    Ok(())
}

fn each_index(len: usize, most: usize, mut one: impl FnMut(usize, isize)) {
    if len <= most {
        (0..len).for_each(|index| one(index, index as isize));
    } else {
        (0..most / 2).for_each(|index| one(index, index as isize));
        (len - most / 2..len).for_each(|index| one(index, index as isize - len as isize));
    }
}

fn of_dict(dict: &Bound<'_, PyDict>, most: usize, out: &mut Parts) -> PyResult<()> {
    let len = dict.len();
    out.push((Key::Told("(length)"), Value::Number(len as i64)));
    let tail = if len > most { len - most / 2 } else { len };
    let mut number = 0;
    each_item(dict, |key, part| {
        if number < most || number >= tail {
            let place = if number < most { number as isize } else { number as isize - len as isize };
            let key = if is_atom(&key) { Key::Entry(key.unbind()) } else { Key::EntryAt(place) };
            out.push((key, Value::of(&part)));
        }
        number += 1;
    });
    Ok(())
}

fn of_set(obj: &Bound<'_, PyAny>, most: usize, out: &mut Parts) -> PyResult<()> {
    let py = obj.py();
    let base = py.import(intern!(py, "builtins"))?.getattr(intern!(py, "set"))?;
    let len: i64 = base.call_method1(intern!(py, "__len__"), (obj,))?.extract()?;
    out.push((Key::Told("(length)"), Value::Number(len)));
    let mut atoms = Vec::new();
    if len > 0 {
        for item in base.call_method1(intern!(py, "__iter__"), (obj,))?.try_iter()?.take(most) {
            let item = item?;
            if is_atom(&item) {
                atoms.push(item);
            }
        }
    }
    out.push((Key::Told("(elements)"), Value::Number(PyFrozenSet::new(py, atoms)?.hash()? as i64)));
    Ok(())
}

/// Its attributes, and what is in its slots.
pub(super) fn of_instance(obj: &Bound<'_, PyAny>, reading: &Reading, out: &mut Parts) -> PyResult<bool> {
    let py = obj.py();
    if let Some(own) = instance_dict(obj)? {
        put_attributes(&own, out);
    }
    for (name, slot) in &reading.slots {
        match slot.bind(py).call_method1(intern!(py, "__get__"), (obj, obj.get_type())) {
            Ok(part) => out.push((Key::Attribute(name.clone_ref(py)), Value::of(&part))),
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyAttributeError>(py) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// What stands under a name; another key is none of an attribute's.
fn put_attributes(own: &Bound<'_, PyDict>, out: &mut Parts) {
    each_item(own, |name, part| {
        if name.is_exact_instance_of::<PyString>() {
            out.push((Key::Attribute(name.unbind()), Value::of(&part)));
        }
    });
}

/// Defaults, what it closes over, attributes.
fn of_function(classes: &Classes, obj: &Bound<'_, PyAny>, out: &mut Parts) -> PyResult<bool> {
    let py = obj.py();
    let code = obj.getattr(intern!(py, "__code__"))?;
    if !classes.files.bind(py).contains(code.getattr(intern!(py, "co_filename"))?)? {
        return of_wrapper(classes, obj, &code, out);
    }
    out.push((Key::Told("(code)"), Value::Number(code.as_ptr() as i64)));
    if let Ok(defaults) = obj.getattr(intern!(py, "__defaults__"))?.cast::<PyTuple>() {
        out.extend(defaults.iter().enumerate().map(|(n, part)| (Key::Default(n), Value::of(&part))));
    }
    if let Ok(defaults) = obj.getattr(intern!(py, "__kwdefaults__"))?.cast::<PyDict>() {
        each_item(defaults, |name, part| out.push((Key::KeywordDefault(name.unbind()), Value::of(&part))));
    }
    put_cells(obj, &code, |_| Ok(true), out)?;
    if let Some(own) = instance_dict(obj)? {
        put_attributes(&own, out);
    }
    Ok(true)
}

/// What it closes over, where `is_taken`.
fn put_cells(
    obj: &Bound<'_, PyAny>,
    code: &Bound<'_, PyAny>,
    is_taken: impl Fn(&Bound<'_, PyAny>) -> PyResult<bool>,
    out: &mut Parts,
) -> PyResult<()> {
    let py = obj.py();
    if let Ok(cells) = obj.getattr(intern!(py, "__closure__"))?.cast::<PyTuple>() {
        let names = code.getattr(intern!(py, "co_freevars"))?;
        for (name, cell) in names.cast::<PyTuple>()?.iter().zip(cells.iter()) {
            // ValueError: an empty cell
            if let Ok(part) = cell.getattr(intern!(py, "cell_contents"))
                && is_taken(&part)?
            {
                out.push((Key::Cell(name.unbind()), Value::of(&part)));
            }
        }
    }
    Ok(())
}

/// Of a library's function, which functions of the user's it wraps: `@contextmanager`, `@torch.no_grad()`, `@singledispatch`; of the
/// last all that are registered with it.
fn of_wrapper(classes: &Classes, obj: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>, out: &mut Parts) -> PyResult<bool> {
    let py = obj.py();
    let is_ours = |part: &Bound<'_, PyAny>| -> PyResult<bool> {
        if !part.get_type().is(obj.get_type()) {
            return Ok(false);
        }
        let file = part.getattr(intern!(py, "__code__"))?.getattr(intern!(py, "co_filename"))?;
        classes.files.bind(py).contains(file)
    };
    let before = out.len();
    put_cells(obj, code, is_ours, out)?;
    if let Some(own) = instance_dict(obj)? {
        if let Some(part) = own.get_item(intern!(py, "__wrapped__"))?
            && is_ours(&part)?
        {
            out.push((Key::Attribute(intern!(py, "__wrapped__").clone().into_any().unbind()), Value::of(&part)));
        }
        if let Some(part) = own.get_item(intern!(py, "registry"))?
            && part.is_instance_of::<PyMappingProxy>()
        {
            out.push((Key::Attribute(intern!(py, "registry").clone().into_any().unbind()), Value::of(&part)));
        }
    }
    Ok(out.len() > before)
}

/// Whether what stands in a class is called when somebody uses an object of it: a function, what wraps one, an object of the user's.
fn is_callable_of_class(part: &Bound<'_, PyAny>) -> bool {
    part.is_callable() && !part.is_instance_of::<PyType>()
        || ["staticmethod", "classmethod", "property"]
            .iter()
            .any(|name| part.get_type().name().is_ok_and(|kind| kind == *name))
}

/// What stands in the class itself, without what Python writes there.
fn of_class(classes: &Classes, obj: &Bound<'_, PyAny>, out: &mut Parts) -> PyResult<bool> {
    let py = obj.py();
    if !classes.reading(obj.cast::<PyType>()?)?.is_ours {
        return Ok(false);
    }
    let of_type = PyType::type_object(py).getattr(intern!(py, "__dict__"))?.get_item(intern!(py, "__dict__"))?;
    let own = of_type.call_method1(intern!(py, "__get__"), (obj,))?.call_method0(intern!(py, "copy"))?;
    let types = py.import(intern!(py, "types"))?;
    let skipped =
        [types.getattr(intern!(py, "MemberDescriptorType"))?, types.getattr(intern!(py, "GetSetDescriptorType"))?];
    let mut is_abstract = false;
    each_item(own.cast::<PyDict>()?, |name, part| {
        let Ok(text) = name.cast_exact::<PyString>() else { return };
        // Python writes `__doc__` and the like; a function or what wraps one may hold something
        let is_pythons = text.to_str().is_ok_and(|text| text.starts_with("__")) && !is_callable_of_class(&part);
        if is_pythons || skipped.iter().any(|kind| part.get_type().is(kind)) {
            return;
        }
        is_abstract |= text.to_str().is_ok_and(|text| text == "_abc_impl");
        out.push((Key::Attribute(name.unbind()), Value::of(&part)));
    });
    // without the methods of its own class
    let of_type = PyType::type_object(py).getattr(intern!(py, "__dict__"))?.get_item(intern!(py, "__bases__"))?;
    let bases = of_type.call_method1(intern!(py, "__get__"), (obj,))?;
    for (number, base) in bases.cast::<PyTuple>()?.iter().enumerate() {
        if classes.reading(base.cast::<PyType>()?)?.is_ours {
            let key = PyString::new(py, &format!("(base {number})")).into_any();
            out.push((Key::Given(key.unbind()), Value::of(&base)));
        }
    }
    if is_abstract {
        let known = classes.registered.bind(py).call1((obj,))?;
        if !known.is_none() {
            out.push((Key::Told("(registered)"), Value::Number(known.extract()?)));
        }
    }
    Ok(true)
}

/// Attributes, parameters, buffers and modules, but no hooks: torch keeps those of its own there.
fn of_module(obj: &Bound<'_, PyAny>, out: &mut Parts) -> PyResult<()> {
    let Some(own) = instance_dict(obj)? else { return Ok(()) };
    each_item(&own, |name, part| {
        let Ok(text) = name.cast_exact::<PyString>() else { return };
        match text.to_str() {
            Ok("_parameters" | "_buffers" | "_modules") => {
                if let Ok(table) = part.cast::<PyDict>() {
                    put_attributes(table, out);
                }
            }
            Ok("_compiled_call_impl" | "_non_persistent_buffers_set") => {}
            Ok(text) if text.contains("hooks") => {}
            _ => out.push((Key::Attribute(name.unbind()), Value::of(&part))),
        }
    });
    Ok(())
}

/// The states of what it keeps for parameters, together, and its groups.
fn of_optimizer(classes: &Classes, obj: &Bound<'_, PyAny>, out: &mut Parts) -> PyResult<()> {
    let py = obj.py();
    let Some(own) = instance_dict(obj)? else { return Ok(()) };
    let mut held = Vec::new();
    if let Some(state) = own.get_item(intern!(py, "state"))?
        && let Ok(state) = state.cast::<PyDict>()
    {
        each_item(state, |_, of_parameter| {
            if let Ok(of_parameter) = of_parameter.cast::<PyDict>() {
                each_item(of_parameter, |_, value| {
                    if held.len() < classes.limits.items {
                        held.push(value);
                    }
                });
            }
        });
    }
    let mut state = 0;
    for value in held {
        state = mix(state, version(classes, &value)?);
    }
    out.push((Key::Told(".state"), Value::Number(state)));
    let groups = own.get_item(intern!(py, "param_groups"))?;
    out.push((Key::Told("(groups)"), Value::of(&groups.unwrap_or_else(|| py.None().into_bound(py)))));
    Ok(())
}

/// What tells two states of a tensor apart: torch counts its changes. Of an atom: what it is.
fn version(classes: &Classes, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    let py = value.py();
    if is_atom(value) {
        return Ok(value.hash()? as i64);
    }
    // of a class of the user's, which may see each of these questions, or no tensor at all
    if classes.reading(&value.get_type())?.how != [How::Tensor] {
        return classes.version.bind(py).call1((value,))?.extract();
    }
    // an inference tensor counts no changes, others have no memory
    let own = counted(value).map_or(0, |(changes, address)| mix(changes, address as i64));
    Ok(gradient(value).map_or(own, |gradient| mix(own, gradient)))
}

/// How often a tensor was changed, and where its memory is.
fn counted(tensor: &Bound<'_, PyAny>) -> PyResult<(i64, usize)> {
    let py = tensor.py();
    let changes = tensor.getattr(intern!(py, "_version"))?.extract()?;
    Ok((changes, tensor.call_method0(intern!(py, "data_ptr"))?.extract()?))
}

/// What tells two states of the gradient of a leaf apart, if it has one. Each `backward()` may make a new one, where the one before
/// was: so its first numbers count, too.
fn gradient(tensor: &Bound<'_, PyAny>) -> Option<i64> {
    let py = tensor.py();
    if !is_true(tensor, intern!(py, "requires_grad")) || !is_true(tensor, intern!(py, "is_leaf")) {
        return None;
    }
    let gradient = tensor.getattr(intern!(py, "grad")).ok().filter(|gradient| !gradient.is_none())?;
    let (changes, address) = counted(&gradient).ok()?;
    // to look at a device's memory would wait for the device
    let is_on_host = is_true(&gradient, intern!(py, "is_cpu"));
    let told = if is_on_host { first_numbers(&gradient, address).unwrap_or(0) } else { gradient.as_ptr() as i64 };
    Some(mix(mix(changes, address as i64), told))
}

fn is_true(tensor: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> bool {
    tensor.getattr(name).and_then(|answer| answer.extract()).unwrap_or(false)
}

/// The first numbers of a tensor of the host's, read without an operation that a mode of torch's would see.
fn first_numbers(tensor: &Bound<'_, PyAny>, address: usize) -> PyResult<i64> {
    const MOST: usize = 16;
    let py = tensor.py();
    let size: usize = tensor.call_method0(intern!(py, "element_size"))?.extract()?;
    let count: usize = tensor.call_method0(intern!(py, "numel"))?.extract()?;
    let is_dense: bool = tensor.call_method0(intern!(py, "is_contiguous"))?.extract()?;
    let count = if is_dense { count.min(MOST) } else { count.min(1) };
    if address == 0 {
        return Ok(0);
    }
    // SAFETY: the memory of a strided tensor that is held, from its first element on; the GIL is held, and nothing runs meanwhile
    let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, count * size) };
    Ok(bytes.iter().fold(count as i64, |state, byte| mix(state, i64::from(*byte))))
}

fn mix(a: i64, b: i64) -> i64 {
    let mixed = (a as u64 ^ (b as u64).rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)) as i64
}

/// Names of a file that Python, or its module `warnings`, writes.
const OF_PYTHON: [&str; 13] = [
    "__annotate__",
    "__annotations__",
    "__builtins__",
    "__cached__",
    "__conditional_annotations__",
    "__doc__",
    "__file__",
    "__loader__",
    "__name__",
    "__package__",
    "__path__",
    "__spec__",
    "__warningregistry__",
];

/// The names of a function that runs, or of a file; modules that were imported and what florc put there are no parts of it.
pub(super) fn of_scope(names: &Bound<'_, PyDict>) -> Parts {
    let mut out = Parts::new();
    each_item(names, |name, part| {
        let is_own = name
            .cast_exact::<PyString>()
            .is_ok_and(|name| name.to_str().is_ok_and(|name| name.starts_with("_florc") || OF_PYTHON.contains(&name)));
        if !is_own && !part.cast_exact::<PyModule>().is_ok_and(is_imported) {
            out.push((Key::Name(name.unbind()), Value::of(&part)));
        }
    });
    out
}

fn is_imported(module: &Bound<'_, PyModule>) -> bool {
    let known = || -> PyResult<bool> {
        let imported = module.py().import(intern!(module.py(), "sys"))?.getattr(intern!(module.py(), "modules"))?;
        let own = module.dict().get_item(intern!(module.py(), "__name__"))?;
        own.map_or(Ok(false), |name| imported.get_item(name).map(|found| found.is(module)))
    };
    known().unwrap_or(false)
}
