//! What a walk has found so far.
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use pyo3::prelude::*;

use super::dtypes::Dtypes;
use super::how::Class;
use super::leaves::{Leaf, MemoryLeaf};
use super::shared::Span;
use crate::class_table::{AddressHasher, Addresses};

/// An object that was met.
#[derive(Debug)]
pub(super) struct Node {
    pub object: Py<PyAny>,
    pub class: Arc<Class>,
    pub parent: i64,
    /// How often the graph refers to it, as far as each time stands for one reference of the interpreter's.
    pub inside: usize,
    /// Whether it was met otherwise, too: as a place, or by an encoder written in Python, which may have made it.
    pub is_exposed: bool,
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
    pub leaf_of: HashMap<(usize, usize), usize, BuildHasherDefault<AddressHasher>>,
    pub spans: Vec<Span>,
    pub devices: Vec<String>,
    pub current: i64,
    pub done: usize,
    pub light: bool,
    pub light_nodes: Vec<usize>,
    pub weak_nodes: Vec<usize>,
    /// Whole numbers that may be addresses of objects.
    pub addresses: Vec<i64>,
    /// Nodes of objects with hooks, and how many they have.
    pub hooked: Vec<(usize, usize)>,
    /// Nodes of tensors that have a gradient which is not in the graph.
    pub left_gradients: Vec<usize>,
    /// Whether what is met now does not stand for one reference.
    pub exposes: bool,
    /// How many references others of florc's hold, by address.
    pub others: Addresses<usize>,
    /// Tensors whose memory no other tensor has.
    pub lone_memory: Vec<usize>,
    /// What [`Found::alone`] said in the end.
    pub alone_nodes: Vec<usize>,
}

impl Found {
    /// Without content, its memory still there.
    pub(super) fn empty(&mut self) {
        let Found {
            nodes,
            numbers,
            dtypes,
            text,
            leaves,
            leaf_of,
            spans,
            devices,
            light_nodes,
            weak_nodes,
            addresses,
            hooked,
            others,
            lone_memory,
            alone_nodes,
            left_gradients,
            ..
        } = self;
        nodes.clear();
        numbers.clear();
        dtypes.clear();
        text.clear();
        leaves.clear();
        leaf_of.clear();
        spans.clear();
        devices.clear();
        light_nodes.clear();
        weak_nodes.clear();
        addresses.clear();
        hooked.clear();
        others.clear();
        lone_memory.clear();
        alone_nodes.clear();
        left_gradients.clear();
        self.exposes = false;
        (self.current, self.done, self.light) = (-1, 0, false);
    }

    /// The node at hand is a tensor whose gradient is not in the graph.
    pub(super) fn leaves_gradient(&mut self) {
        self.left_gradients.extend(usize::try_from(self.current));
    }

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

    /// How many references to the object of a node are the graph's and florc's.
    pub(super) fn known_references(&self, number: usize) -> usize {
        let Some(node) = self.nodes.get(number) else { return 0 };
        let address = node.object.as_ptr() as usize;
        1 + node.inside + self.others.get(&address).copied().unwrap_or(0)
    }

    /// Nodes of objects that nothing but the graph refers to.
    pub(super) fn alone(&self) -> Vec<usize> {
        let mut owners: Addresses<usize> = Addresses::default();
        for address in self.leaves.iter().filter_map(Leaf::owner) {
            *owners.entry(address).or_default() += 1;
        }
        let is_alone = |node: &Node| {
            let object = node.object.as_ptr();
            let of = |known: &Addresses<usize>| known.get(&(object as usize)).copied().unwrap_or(0);
            let known = 1 + node.inside + of(&owners) + of(&self.others);
            // SAFETY: the node holds its object
            let held = usize::try_from(unsafe { pyo3::ffi::Py_REFCNT(object) }).unwrap_or(usize::MAX);
            node.state == State::Filled && !node.is_exposed && held <= known
        };
        self.nodes.iter().enumerate().filter(|(_, node)| is_alone(node)).map(|(number, _)| number).collect()
    }

    /// The node at hand has so many hooks.
    pub(super) fn add_hooks(&mut self, count: usize) {
        if count > 0
            && let Ok(node) = usize::try_from(self.current)
        {
            self.hooked.push((node, count));
        }
    }

    pub(super) fn device(&mut self, name: &str) -> usize {
        self.devices.iter().position(|known| known == name).unwrap_or_else(|| {
            self.devices.push(name.to_string());
            self.devices.len() - 1
        })
    }
}
