//! What is known of classes, by class: an entry is gone when its class is, before its address is another's.
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyType, PyWeakrefReference};

use crate::locks::lock;

/// A program that makes classes in a loop is not to fill the memory.
const MOST_CLASSES: usize = 5000;

/// A map by the addresses of objects.
pub type Addresses<T> = HashMap<usize, T, BuildHasherDefault<AddressHasher>>;

/// Class → what is known of it. It keeps no class alive, and asks none for its hash.
#[derive(Debug)]
pub struct ClassTable<T> {
    known: Arc<Mutex<Known<T>>>,
}

type Known<T> = Addresses<(Py<PyWeakrefReference>, Arc<T>)>;

impl<T> Default for ClassTable<T> {
    fn default() -> Self {
        ClassTable { known: Arc::default() }
    }
}

impl<T: Send + Sync + 'static> ClassTable<T> {
    /// What is known of a class.
    pub fn get(&self, class: &Bound<'_, PyType>) -> Option<Arc<T>> {
        self.known().get(&(class.as_ptr() as usize)).map(|(_, known)| Arc::clone(known))
    }

    /// Enters what is known of a class from now on.
    pub fn insert(&self, class: &Bound<'_, PyType>, found: T) -> PyResult<Arc<T>> {
        let (address, found) = (class.as_ptr() as usize, Arc::new(found));
        let guard = self.guard(class, address)?;
        let mut known = self.known();
        let forgotten = if known.len() >= MOST_CLASSES { std::mem::take(&mut *known) } else { Known::default() };
        let before = known.insert(address, (guard, Arc::clone(&found)));
        drop(known);
        drop((forgotten, before));
        Ok(found)
    }

    /// A weak reference that removes the class's entry when the class is gone.
    fn guard(&self, class: &Bound<'_, PyType>, address: usize) -> PyResult<Py<PyWeakrefReference>> {
        let known = Arc::clone(&self.known);
        let gone = PyCFunction::new_closure(class.py(), None, None, move |_, _| {
            let entry = lock(&known).remove(&address);
            drop(entry);
        })?;
        Ok(PyWeakrefReference::new_with(class, gone)?.unbind())
    }

    /// Never held while Python runs.
    fn known(&self) -> MutexGuard<'_, Known<T>> {
        lock(&self.known)
    }
}

/// Addresses differ in their middle bits.
#[derive(Debug, Default, Clone, Copy)]
pub struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, value: usize) {
        // Fibonacci hashing; the table looks at both ends of the result
        let mixed = (self.0 ^ value as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
