//! `florc._native.Walk`: which objects a state consists of, and in which order.
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::intern;
use pyo3::prelude::*;

use super::addresses::{in_text, may_be_address};
use super::classes::Classes;
use super::found::{Found, Node, State};
use super::how::Class;
use crate::locks::lock;

/// Walks objects breadth first; an object's node number is the order in which it was met. Every object is held, so that its
/// address stays its own while the walk lasts. Light objects (datasets, samplers, loaders) wait until everything else is
/// known: what is reachable without them is state, the rest is bulk data.
#[pyclass(subclass, frozen, module = "florc._native")]
#[derive(Debug)]
pub struct Walk {
    pub(super) found: Mutex<Found>,
    pub(super) classes: Py<Classes>,
    /// Names of attributes that hold code, not state.
    pub(super) hooks: Py<PyAny>,
    #[pyo3(get)]
    pub(super) gradients: bool,
    /// How many walks there were when the block began.
    pub(super) since: u64,
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

    /// The number of the object at an address; and whether the graph holds its content, not only its name.
    pub(crate) fn met(&self, address: usize) -> Option<(usize, bool)> {
        let found = self.found();
        let number = *found.numbers.get(&address)?;
        let state = found.nodes.get(number)?.state;
        Some((number, !matches!(state, State::ByName | State::Opaque)))
    }

    /// Others of florc's hold so many references to these objects, by address.
    pub(crate) fn discount(&self, held: impl IntoIterator<Item = usize>) {
        let mut found = self.found();
        for address in held {
            *found.others.entry(address).or_default() += 1;
        }
    }

    /// After `finish`: these nodes count as alone. Whether some did not.
    pub(crate) fn add_alone(&self, mut numbers: BTreeSet<usize>) -> bool {
        let mut found = self.found();
        numbers.retain(|number| found.nodes.get(*number).is_some_and(|node| node.state == State::Filled));
        let before: BTreeSet<usize> = found.alone_nodes.iter().copied().collect();
        found.alone_nodes = before.union(&numbers).copied().collect();
        found.alone_nodes.len() > before.len()
    }

    /// Never held while Python runs.
    pub(super) fn found(&self) -> MutexGuard<'_, Found> {
        lock(&self.found)
    }

    /// What is met meanwhile may not be what its holder refers to: see [`Node::is_exposed`].
    pub(super) fn exposing<T>(&self, meet: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        let before = std::mem::replace(&mut self.found().exposes, true);
        let met = meet();
        self.found().exposes = before;
        met
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
            let mut found = walk.found();
            if let Some(&number) = found.numbers.get(&address) {
                let exposes = found.exposes;
                if let Some(node) = found.nodes.get_mut(number) {
                    node.inside += usize::from(!exposes);
                    node.is_exposed |= exposes;
                }
                return Ok(Some(number));
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
        let is_exposed = found.exposes;
        let inside = usize::from(!is_exposed);
        found.nodes.push(Node { object, class, parent, inside, is_exposed, state: State::Met, text: 0..0 });
        Ok(Some(number))
    }
}

/// The next walk is about as long: it gets the memory of this one, which the system would have to clear anew.
impl Drop for Walk {
    fn drop(&mut self) {
        // Python calls this where nobody waits for an error; what is lost is memory to use again
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let mut found = std::mem::take(&mut *self.found());
            if found.text.capacity() <= MOST_SPARE {
                found.empty();
                self.classes.get().keep_spare(found);
            }
        }));
    }
}

/// Bytes of text that are kept for the next walk.
const MOST_SPARE: usize = 16 << 20;
