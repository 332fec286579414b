//! What drives a walk: `florc._native.Walk` as Python sees it, and the nodes that it fills.
use std::sync::{Arc, Mutex};

use pyo3::IntoPyObjectExt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySet, PyString};

use super::addresses::is_any_mapped;
use super::classes::Classes;
use super::found::{Found, State};
use super::how::How;
use super::json::{dump, put_list, put_number};
use super::leaves::{Leaf, Leaves, MemoryLeaf};
use super::nodes;
use super::shared::put_groups;
use super::tensor::put_tensor;
use super::walk::Walk;

/// Rising numbers: the first one of those that follow each other, and how many these are.
type Runs = Vec<(usize, usize)>;

#[pymethods]
impl Walk {
    #[new]
    fn new(classes: Py<Classes>, hooks: Py<PyAny>, gradients: bool, since: u64) -> Walk {
        classes.get().begin_walk();
        let found = classes.get().take_spare().unwrap_or_else(|| Found { current: -1, ..Found::default() });
        Walk { found: Mutex::new(found), classes, hooks, gradients, since }
    }

    /// The encoded form of one object: an atom, or a reference to its node (made when new).
    fn value<'py>(slf: &Bound<'py, Self>, obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        encoded(slf, obj, |text| slf.get().exposing(|| nodes::put_value(slf, obj, text)))
    }

    /// The same of what the object at hand refers to, once for each time that this is called: who else does is counted.
    fn part<'py>(slf: &Bound<'py, Self>, obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        encoded(slf, obj, |text| nodes::put_value(slf, obj, text))
    }

    /// Fills every node that was met and not yet filled.
    fn run(slf: &Bound<'_, Self>) -> PyResult<()> {
        let walk = slf.get();
        let mut text = std::mem::take(&mut walk.found().text);
        let ran = loop {
            let (index, how) = {
                let mut found = walk.found();
                let index = found.done;
                let Some(how) = found.nodes.get(index).map(|node| node.class.how) else { break Ok(()) };
                found.done += 1;
                match how {
                    How::Weak => found.weak_nodes.push(index),
                    How::Light if !found.light => found.light_nodes.push(index),
                    _ => found.current = index as i64,
                }
                if how == How::Weak || how == How::Light && !found.light {
                    continue;
                }
                (index, how)
            };
            if let Err(error) = fill(slf, index, how, &mut text) {
                break Err(error);
            }
        };
        walk.found().text = text;
        ran
    }

    /// Datasets and the like, then weak references: both ask what is in the graph already.
    fn run_light(slf: &Bound<'_, Self>) -> PyResult<()> {
        let walk = slf.get();
        let light = {
            let mut found = walk.found();
            found.light = true;
            found.light_nodes.clone()
        };
        fill_now(slf, light)?;
        Self::run(slf)?;
        let weak = walk.found().weak_nodes.clone();
        fill_now(slf, weak)?;
        walk.found().light = false;
        Ok(())
    }

    /// A new leaf, `MemoryLeaf`, `DeviceLeaf` or bytes: its index.
    fn leaf(&self, leaf: &Bound<'_, PyAny>) -> PyResult<usize> {
        let len = match leaf.getattr_opt(intern!(leaf.py(), "nbytes"))? {
            Some(nbytes) => nbytes.extract()?,
            None => leaf.len()?,
        };
        let owner = leaf.cast::<MemoryLeaf>().ok().map(|memory| memory.get().owner.as_ptr() as usize);
        let leaf = Leaf::Given { leaf: leaf.clone().unbind(), len, owner };
        Ok(self.found().add_leaf(leaf))
    }

    /// A leaf of memory that several nodes may be over: its index.
    fn memory(&self, address: usize, len: usize, owner: Py<PyAny>) -> PyResult<usize> {
        self.found().memory_leaf(address, len, || owner)
    }

    /// Notes that the elements of the node at hand lie in this memory of a device.
    fn span(&self, device: &str, address: usize, len: usize) {
        let mut found = self.found();
        let device = found.device(device);
        found.add_span(device, address, len);
    }

    /// Where the elements of tensors and arrays lie: (address, bytes).
    fn spans(&self) -> Vec<(usize, usize)> {
        self.found().spans.iter().map(|span| (span.address, span.len)).collect()
    }

    /// The number of the node that is being filled; -1 before the first.
    #[getter]
    fn current(&self) -> i64 {
        self.found().current
    }

    #[setter]
    fn set_current(&self, number: i64) {
        self.found().current = number;
    }

    #[getter]
    fn light(&self) -> bool {
        self.found().light
    }

    /// How many objects were met, and how many of them are light.
    fn counts(&self) -> (usize, usize) {
        let found = self.found();
        (found.nodes.len(), found.light_nodes.len())
    }

    /// The objects that were met, in order.
    fn objects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.found().nodes.iter().map(|node| node.object.bind(py)))
    }

    fn object(&self, py: Python<'_>, number: usize) -> Option<Py<PyAny>> {
        self.found().nodes.get(number).map(|node| node.object.clone_ref(py))
    }

    /// The node that an object was first met in; -1 for a place.
    fn parent(&self, number: usize) -> Option<i64> {
        self.found().nodes.get(number).map(|node| node.parent)
    }

    /// The number of an object's node, None when it was not met.
    fn number(&self, obj: &Bound<'_, PyAny>) -> Option<usize> {
        self.found().numbers.get(&(obj.as_ptr() as usize)).copied()
    }

    /// Whether an object was recorded by reference: the live one will stay.
    fn is_opaque(&self, number: usize) -> bool {
        self.found().nodes.get(number).is_some_and(|node| node.state == State::Opaque)
    }

    /// Whether a whole number in the graph is the address of an object (`id`).
    fn holds_addresses(&self) -> bool {
        is_any_mapped(&self.found().addresses)
    }

    /// Takes note of the numbers of a leaf: 64 bits each, little-endian.
    fn note_numbers(&self, packed: &[u8]) {
        packed.as_chunks().0.iter().for_each(|number| self.note_number(i64::from_le_bytes(*number)));
    }

    /// The node at hand has so many hooks.
    fn add_hooks(&self, count: usize) {
        self.found().add_hooks(count);
    }

    /// Nodes of objects with hooks, and how many they have.
    fn hooked(&self) -> Vec<(usize, usize)> {
        self.found().hooked.clone()
    }

    /// Nodes of tensors that have a gradient which is not in the graph.
    #[getter]
    fn left_gradients(&self) -> Vec<usize> {
        self.found().left_gradients.clone()
    }

    /// A tensor has a gradient that is not in the graph.
    fn leaves_gradient(&self) {
        self.found().leaves_gradient();
    }

    /// After `finish`: the nodes of objects that nothing but the graph refers to, and of tensors whose memory no other has, as runs.
    fn holders(&self) -> (Runs, Runs) {
        let found = self.found();
        (runs(&found.alone_nodes), runs(&found.lone_memory))
    }

    /// How many references to the object of a node are known: the graph's and florc's.
    fn known_references(&self, number: usize) -> usize {
        self.found().known_references(number)
    }

    /// The addresses of the objects whose content is in the graph; not those that it only names.
    fn held<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PySet>> {
        let found = self.found();
        let held = found.nodes.iter().filter(|node| !matches!(node.state, State::ByName | State::Opaque));
        PySet::new(py, held.map(|node| node.object.as_ptr() as usize))
    }

    /// The whole text: `head`, a JSON object, with what was found. And the leaves, and their bytes in all.
    fn finish<'py>(&self, py: Python<'py>, head: &str) -> PyResult<(Bound<'py, PyBytes>, Leaves, usize)> {
        let mut found = self.found();
        let mut out = String::with_capacity(head.len() + found.text.len() + 12 * found.leaves.len() + 64);
        out.push_str(head.strip_suffix('}').unwrap_or(head));
        out.push_str(",\"shared\":");
        put_groups(found.spans.clone(), &mut out);
        let alone = found.alone();
        found.alone_nodes = alone;
        out.push_str(",\"leaves\":");
        put_list(&found.leaves, &mut out, |leaf, out| put_number(leaf.len(), out));
        out.push_str(",\"nodes\":");
        put_list(&found.nodes, &mut out, |node, out| out.push_str(found.text.get(node.text.clone()).unwrap_or("null")));
        out.push('}');
        let nbytes = found.leaves.iter().map(Leaf::len).sum();
        let count = found.leaves.len();
        let leaves = Leaves { leaves: std::mem::replace(&mut found.leaves, Vec::with_capacity(count)) };
        Ok((PyBytes::new(py, out.as_bytes()), leaves, nbytes))
    }
}

/// An atom, or what `put` writes.
fn encoded<'py>(
    slf: &Bound<'py, Walk>,
    obj: &Bound<'py, PyAny>,
    put: impl FnOnce(&mut String) -> PyResult<()>,
) -> PyResult<Bound<'py, PyAny>> {
    let class = slf.get().class_of(obj)?;
    match class.how {
        How::None | How::Bool => Ok(obj.clone()),
        How::Float if obj.extract::<f64>()?.is_finite() => Ok(obj.clone()),
        How::Int | How::Float | How::Str | How::Atom => {
            if let Ok(number) = obj.extract::<i64>() {
                slf.get().note_number(number);
            } else if let Ok(text) = obj.extract::<&str>() {
                slf.get().note_text(text);
            }
            class.function.bind(slf.py()).call1((obj,))
        }
        _ => {
            let mut text = String::new();
            put(&mut text)?;
            read_back(slf.py(), &text)
        }
    }
}

fn runs(numbers: &[usize]) -> Runs {
    let mut found = Runs::new();
    for &number in numbers {
        match found.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => found.push((number, 1)),
        }
    }
    found
}

fn fill_now(slf: &Bound<'_, Walk>, numbers: Vec<usize>) -> PyResult<()> {
    let walk = slf.get();
    let mut text = std::mem::take(&mut walk.found().text);
    let filled = numbers.into_iter().try_for_each(|number| {
        walk.found().current = number as i64;
        fill(slf, number, How::Node, &mut text)
    });
    walk.found().text = text;
    filled
}

/// Appends the text of a node.
fn fill(slf: &Bound<'_, Walk>, number: usize, how: How, text: &mut String) -> PyResult<()> {
    let py = slf.py();
    let (object, class) = {
        let found = slf.get().found();
        let Some(node) = found.nodes.get(number) else { return Ok(()) };
        (node.object.bind(py).clone(), Arc::clone(&node.class))
    };
    let start = text.len();
    let mut state = State::Filled;
    match how {
        How::Tuple | How::List => nodes::put_sequence(slf, &object, how, text)?,
        How::Dict => nodes::put_dict(slf, &object, text)?,
        How::DefaultDict => nodes::put_defaultdict(slf, &object, text)?,
        How::Module => nodes::put_module(slf, &object, &class, text)?,
        How::Object => nodes::put_object(slf, &object, &class, text)?,
        How::Tensor if put_tensor(slf, &object, &class, text)? => {}
        How::Set if nodes::put_empty_set(slf, &object, text)? => {}
        _ => {
            text.truncate(start);
            let node = class.function.bind(py).call1((slf, &object))?;
            state = state_of(&node);
            dump(&node, text)?;
            if how == How::Set && nodes::is_untouched(&object) {
                slf.get().classes.get().keep_empty_set(&text[start..]);
            }
        }
    }
    let end = text.len();
    if let Some(node) = slf.get().found().nodes.get_mut(number) {
        (node.state, node.text) = (state, start..end);
    }
    Ok(())
}

/// How far a node that Python made is filled: its kind comes first.
fn state_of(node: &Bound<'_, PyAny>) -> State {
    let kind = node.get_item(0).ok();
    match kind.as_ref().and_then(|kind| kind.cast::<PyString>().ok()?.to_str().ok()) {
        Some("opaque") => State::Opaque,
        Some("named") => State::ByName,
        _ => State::Filled,
    }
}

/// What a text that stands for one object is in Python: `[number]`, `["kept"]`, or a tagged list.
fn read_back<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    if let Some(number) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')?.parse::<usize>().ok()) {
        return [number].into_bound_py_any(py);
    }
    py.import(intern!(py, "json"))?.call_method1(intern!(py, "loads"), (text,))
}
