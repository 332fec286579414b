//! `florc._native.Walk`: which objects a state consists of, and in which order.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::intern;
use pyo3::prelude::*;

use super::addresses::{in_text, may_be_address};
use super::classes::{AddressHasher, Class, Classes};
use super::dtypes::Dtypes;
use super::leaves::{Leaf, MemoryLeaf};
use super::shared::Span;
use crate::locks::lock;

type Addresses<T> = HashMap<usize, T, std::hash::BuildHasherDefault<AddressHasher>>;

/// An object that was met.
#[derive(Debug)]
pub(super) struct Node {
    pub object: Py<PyAny>,
    pub class: Arc<Class>,
    pub parent: i64,
    pub state: State,
    /// Its text, once it is filled.
    pub text: std::ops::Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Met,
    Filled,
    /// Filled with no more than the object's name.
    ByName,
    /// Filled with a note that the live object stays.
    Opaque,
}

#[derive(Debug, Default)]
pub(super) struct Found {
    pub nodes: Vec<Node>,
    pub numbers: Addresses<usize>,
    pub dtypes: Dtypes,
    pub text: String,
    pub leaves: Vec<Leaf>,
    pub leaf_of: HashMap<(usize, usize), usize>,
    pub spans: Vec<Span>,
    pub devices: Vec<String>,
    pub current: i64,
    pub done: usize,
    pub light: bool,
    pub light_nodes: Vec<usize>,
    pub weak_nodes: Vec<usize>,
    /// Whole numbers that may be addresses of objects.
    pub addresses: Vec<i64>,
}

/// Walks objects breadth first; an object's node number is the order in which it was met. Every object is held, so that its
/// address stays its own while the walk lasts. Light objects (datasets, samplers, loaders) wait until everything else is
/// known: what is reachable without them is state, the rest is bulk data.
///
/// `pack(encoder, numbers, kind)` makes one leaf of a long list or tuple of numbers, or None.
#[pyclass(subclass, frozen, module = "florc._native")]
#[derive(Debug)]
pub struct Walk {
    pub(super) found: Mutex<Found>,
    pub(super) classes: Py<Classes>,
    pub(super) pack: Py<PyAny>,
    /// Names of attributes that hold code, not state.
    pub(super) hooks: Py<PyAny>,
    #[pyo3(get)]
    pub(super) gradients: bool,
}

impl Walk {
    pub(super) fn note_number(&self, number: i64) {
        if may_be_address(number) {
            self.found().addresses.push(number);
        }
    }

    pub(super) fn note_text(&self, text: &str) {
        in_text(text).for_each(|number| self.note_number(number));
    }

    /// Never held while Python runs.
    pub(super) fn found(&self) -> MutexGuard<'_, Found> {
        lock(&self.found)
    }

    pub(super) fn class_of(&self, obj: &Bound<'_, PyAny>) -> PyResult<Arc<Class>> {
        self.classes.get().of(obj)
    }

    /// The number of the node of an object, made when it was not met before. `None` when the object is bulk data.
    pub(super) fn reference(
        slf: &Bound<'_, Self>,
        obj: &Bound<'_, PyAny>,
        class: &Arc<Class>,
    ) -> PyResult<Option<usize>> {
        let walk = slf.get();
        let address = obj.as_ptr() as usize;
        let light = {
            let found = walk.found();
            if let Some(number) = found.numbers.get(&address) {
                return Ok(Some(*number));
            }
            found.light
        };
        if light && slf.call_method1(intern!(slf.py(), "keeps"), (class.function.bind(slf.py()), obj))?.is_truthy()? {
            return Ok(None);
        }
        let mut found = walk.found();
        let number = found.nodes.len();
        found.numbers.insert(address, number);
        let parent = found.current;
        let (object, class) = (obj.clone().unbind(), Arc::clone(class));
        found.nodes.push(Node { object, class, parent, state: State::Met, text: 0..0 });
        Ok(Some(number))
    }
}

impl Found {
    pub(super) fn add_leaf(&mut self, leaf: Leaf) -> usize {
        self.leaves.push(leaf);
        self.leaves.len() - 1
    }

    pub(super) fn memory_leaf(
        &mut self,
        address: usize,
        len: usize,
        owner: impl FnOnce() -> Py<PyAny>,
    ) -> PyResult<usize> {
        if let Some(index) = self.leaf_of.get(&(address, len)) {
            return Ok(*index);
        }
        let index = self.add_leaf(Leaf::Memory(MemoryLeaf::new(address, len, owner())?));
        self.leaf_of.insert((address, len), index);
        Ok(index)
    }

    pub(super) fn add_span(&mut self, device: usize, address: usize, len: usize) {
        if let Ok(node) = usize::try_from(self.current) {
            self.spans.push(Span { device, address, len, node });
        }
    }

    pub(super) fn device(&mut self, name: &str) -> usize {
        self.devices.iter().position(|known| known == name).unwrap_or_else(|| {
            self.devices.push(name.to_string());
            self.devices.len() - 1
        })
    }
}
