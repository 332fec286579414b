//! `florc._native.Sight`: what a program held at an instant. `Again`: the same objects later.
use std::collections::{BTreeSet, VecDeque};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet};

use super::classes::Parts;
use super::keys::{Kept, Key, Value};
use super::parts::of_scope;
use super::readings::{Readings, to_dict};
use crate::class_table::Addresses;
use crate::encode::Walk;

/// The holder of an object, and which of its parts the object was. A scope has none: there the second is its number.
type Way = (Option<usize>, usize);

/// One object as it was. It is known by the ways to it, and is not kept alive.
#[derive(Debug)]
struct Seen {
    identity: usize,
    way: Way,
    /// Few objects have several.
    further: Vec<Way>,
    content: Vec<(Key, Kept)>,
}

impl Seen {
    /// Whether this very part was there, under this key. `at`: its number now, mostly that which it had.
    fn held_there(&self, py: Python<'_>, at: usize, key: &Key, value: &Value) -> bool {
        let is_same = |(before, kept): &(Key, Kept)| before.is_same(py, key) && kept.is_same(py, value);
        self.content.get(at).is_some_and(is_same) || self.content.iter().any(is_same)
    }
}

/// The objects that a program reaches by its names, nearest first: `scopes` are dicts of names.
#[pyclass(frozen, module = "florc._native")]
#[derive(Debug)]
pub struct Sight {
    readings: Py<Readings>,
    seen: Vec<Seen>,
}

#[pymethods]
impl Sight {
    #[new]
    fn new(py: Python<'_>, readings: Py<Readings>, scopes: Vec<Bound<'_, PyDict>>) -> PyResult<Sight> {
        let mut seen: Vec<Seen> = Vec::new();
        let reading = readings.get();
        let limits = reading.classes.limits;
        let mut todo: VecDeque<(Py<PyAny>, Way)> = VecDeque::new();
        let mut met: Addresses<usize> = Addresses::default();
        for (number, scope) in scopes.iter().enumerate() {
            add(py, &mut seen, &mut todo, scope.as_ptr() as usize, (None, number), &of_scope(scope));
        }
        while let Some((obj, way)) = todo.pop_front() {
            let identity = obj.as_ptr() as usize;
            if let Some(known) = met.get(&identity).and_then(|known| seen.get_mut(*known)) {
                if 1 + known.further.len() < limits.ways {
                    known.further.push(way);
                }
                continue;
            }
            if seen.len() >= limits.objects {
                break;
            }
            if let Some(parts) = reading.of(obj.bind(py))? {
                met.insert(identity, seen.len());
                add(py, &mut seen, &mut todo, identity, way, &parts);
            }
        }
        Ok(Sight { readings, seen })
    }

    fn __len__(&self) -> usize {
        self.seen.len()
    }

    /// Finds the objects again. `scopes`: those of the same names now, None for one that is gone.
    fn again(slf: Bound<'_, Self>, scopes: Vec<Option<Bound<'_, PyDict>>>) -> PyResult<Again> {
        let (py, sight) = (slf.py(), slf.get());
        let mut found: Vec<Option<Now>> = std::iter::repeat_with(|| None).take(sight.seen.len()).collect();
        let reading = sight.readings.get();
        // a way may lead through an object that was met later
        for _ in 0..reading.classes.limits.passes {
            let mut is_complete = true;
            for (index, seen) in sight.seen.iter().enumerate() {
                if found.get(index).is_none_or(Option::is_some) {
                    continue;
                }
                let now = if let (None, number) = seen.way {
                    let scope = scopes.get(number).and_then(Option::as_ref);
                    scope.map(|scope| Now::new(py, seen, scope.clone().into_any().unbind(), Some(of_scope(scope))))
                } else if let Some(object) = sight.lead(py, seen, &found) {
                    let parts = reading.of(object.bind(py))?;
                    Some(Now::new(py, seen, object, parts))
                } else {
                    None
                };
                is_complete &= now.is_some();
                if let Some(place) = found.get_mut(index) {
                    *place = now;
                }
            }
            if is_complete {
                break;
            }
        }
        Ok(Again { sight: slf.unbind(), found })
    }

    /// The address that an object had.
    fn identity(&self, index: usize) -> PyResult<usize> {
        Ok(self.at(index)?.identity)
    }

    /// The first way to an object: the number of its holder and the key; of a scope, None and its number.
    fn way<'py>(&self, py: Python<'py>, index: usize) -> PyResult<(Option<usize>, Bound<'py, PyAny>)> {
        match self.at(index)?.way {
            (None, number) => Ok((None, number.into_pyobject(py)?.into_any())),
            (Some(holder), part) => {
                let (key, _) =
                    self.at(holder)?.content.get(part).ok_or_else(|| PyIndexError::new_err("no such part"))?;
                Ok((Some(holder), key.to_python(py)?))
            }
        }
    }

    /// What an object held: (key, atom or number or address of the part).
    fn content<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyList>> {
        let content = self.at(index)?.content.iter();
        let content: Vec<_> =
            content.map(|(key, part)| Ok((key.to_python(py)?, part.to_python(py)?))).collect::<PyResult<_>>()?;
        PyList::new(py, content)
    }
}

fn add(
    py: Python<'_>,
    seen: &mut Vec<Seen>,
    todo: &mut VecDeque<(Py<PyAny>, Way)>,
    identity: usize,
    way: Way,
    parts: &Parts,
) {
    let index = seen.len();
    let mut content = Vec::with_capacity(parts.len());
    for (number, (key, value)) in parts.iter().enumerate() {
        content.push((key.clone_ref(py), Kept::of(py, value)));
        if let Value::Object(object) = value
            && !is_nan(py, object)
        {
            todo.push_back((object.clone_ref(py), (Some(index), number)));
        }
    }
    seen.push(Seen { identity, way, further: Vec::new(), content });
}

/// A number that is known by where it is holds nothing.
fn is_nan(py: Python<'_>, object: &Py<PyAny>) -> bool {
    object.bind(py).is_exact_instance_of::<pyo3::types::PyFloat>()
}

impl Sight {
    /// Of all that the objects held that were seen.
    fn addresses(&self) -> impl Iterator<Item = usize> {
        let of_part = |(_, kept): &(Key, Kept)| match kept {
            Kept::Address(address) => Some(*address),
            _ => None,
        };
        self.seen.iter().flat_map(move |seen| seen.content.iter().filter_map(of_part))
    }

    fn at(&self, index: usize) -> PyResult<&Seen> {
        self.seen.get(index).ok_or_else(|| PyIndexError::new_err("no such object"))
    }

    /// The object at the end of one of its ways, where it is the same one.
    fn lead(&self, py: Python<'_>, seen: &Seen, found: &[Option<Now>]) -> Option<Py<PyAny>> {
        std::iter::once(&seen.way).chain(&seen.further).find_map(|(holder, part)| {
            let holder = (*holder)?;
            let now = found.get(holder)?.as_ref()?;
            let parts = now.parts.as_ref()?;
            let is_it = |value: &Value| match value {
                Value::Object(object) if object.as_ptr() as usize == seen.identity => Some(object.clone_ref(py)),
                _ => None,
            };
            if now.is_same {
                return is_it(&parts.get(*part)?.1);
            }
            let (key, _) = self.seen.get(holder)?.content.get(*part)?;
            // mostly at the same place: something was added behind it
            match parts.get(*part) {
                Some((here, value)) if here.is_same(py, key) => is_it(value),
                _ => is_it(&parts.iter().rev().find(|(other, _)| other.is_same(py, key))?.1),
            }
        })
    }
}

/// An object that was found again, and what it holds now.
#[derive(Debug)]
struct Now {
    object: Py<PyAny>,
    parts: Option<Parts>,
    is_same: bool,
}

impl Now {
    fn new(py: Python<'_>, seen: &Seen, object: Py<PyAny>, parts: Option<Parts>) -> Now {
        let is_same = parts.as_ref().is_some_and(|parts| {
            parts.len() == seen.content.len()
                && seen
                    .content
                    .iter()
                    .zip(parts)
                    .all(|((key, kept), (now, value))| key.is_same(py, now) && kept.is_same(py, value))
        });
        Now { object, parts, is_same }
    }
}

/// The objects of a sight that were found again.
#[pyclass(frozen, module = "florc._native")]
#[derive(Debug)]
pub struct Again {
    sight: Py<Sight>,
    found: Vec<Option<Now>>,
}

impl Again {
    /// The addresses of what is referred to here, each as often as it is.
    fn references(&self) -> impl Iterator<Item = usize> {
        self.found.iter().flatten().flat_map(|now| {
            let parts = now.parts.iter().flatten().filter_map(|(_, value)| match value {
                Value::Object(part) => Some(part.as_ptr() as usize),
                _ => None,
            });
            parts.chain([now.object.as_ptr() as usize])
        })
    }
}

#[pymethods]
impl Again {
    /// The objects that hold something else now, in the order in which they were met, without those whose content is in the graph
    /// of `walk`.
    #[pyo3(signature = (walk=None))]
    fn changed(&self, walk: Option<&Bound<'_, Walk>>) -> Vec<usize> {
        let is_changed = |index: &usize| match self.found.get(*index) {
            Some(Some(now)) => now.parts.is_some() && !now.is_same && !self.is_held(*index, walk),
            _ => false,
        };
        (0..self.found.len()).filter(is_changed).collect()
    }

    /// The objects whose content is in the graph of `walk`.
    fn held<'py>(&self, py: Python<'py>, walk: &Bound<'py, Walk>) -> PyResult<Bound<'py, PyList>> {
        let held = self.found.iter().enumerate().filter(|(index, _)| self.is_held(*index, Some(walk)));
        PyList::new(py, held.filter_map(|(_, now)| Some(now.as_ref()?.object.bind(py))))
    }

    /// Tells a walk which objects are held here: what nothing but its graph refers to is known by its references.
    fn discount(&self, walk: &Bound<'_, Walk>) {
        walk.get().discount(self.references());
    }

    /// How many references are held here to the objects at these addresses.
    fn count_references(&self, addresses: Vec<usize>) -> Vec<usize> {
        let mut counts: Addresses<usize> = addresses.iter().map(|&address| (address, 0)).collect();
        for address in self.references() {
            if let Some(count) = counts.get_mut(&address) {
                *count += 1;
            }
        }
        addresses.iter().map(|address| counts.get(address).copied().unwrap_or(0)).collect()
    }

    /// An object; None where it was not found again.
    fn object(&self, py: Python<'_>, index: usize) -> Option<Py<PyAny>> {
        Some(self.found.get(index)?.as_ref()?.object.clone_ref(py))
    }

    /// What an object holds now.
    fn parts<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let now = self.found.get(index).and_then(Option::as_ref);
        now.and_then(|now| now.parts.as_ref()).map(|parts| to_dict(py, parts)).transpose()
    }

    /// The numbers of objects of the graph of `walk` that were somewhere else when the block began, and are at none of the places in
    /// the graph where they were: by its place no such object is found again. One that is gone may have left its address to another.
    fn moved(&self, py: Python<'_>, walk: &Bound<'_, Walk>) -> Vec<usize> {
        self.put(py, walk).0.into_iter().collect()
    }

    /// Tells `walk` which objects of its graph the block put where others had been, or nothing, and that were nowhere before: a
    /// replay finds other objects there. Returns whether it had not found that by counting references.
    fn tell_new(&self, py: Python<'_>, walk: &Bound<'_, Walk>) -> bool {
        walk.get().add_alone(self.put(py, walk).1)
    }

    /// The ways, as JSON, to objects of the graph of `walk` from the names `names` of the scopes with these numbers, and their
    /// numbers in the graph. Where the holder's content is in the graph, that says it already.
    fn paths(
        &self,
        py: Python<'_>,
        walk: &Bound<'_, Walk>,
        scopes: Vec<usize>,
        names: &Bound<'_, PySet>,
    ) -> PyResult<Vec<(String, usize)>> {
        let sight = self.sight.get();
        let mut texts: Vec<Option<String>> = Vec::with_capacity(self.found.len());
        let (mut paths, mut located) = (Vec::new(), BTreeSet::new());
        for (index, (seen, now)) in sight.seen.iter().zip(&self.found).enumerate() {
            let mut text = None;
            if let (None, number) = seen.way {
                text = scopes.contains(&number).then(String::new);
            } else if let (Some(holder), part) = seen.way
                && let Some(Some(before)) = texts.get(holder)
                && let Some((key, _)) = sight.seen.get(holder).and_then(|holder| holder.content.get(part))
            {
                let mut path = before.clone();
                let is_named = match key {
                    Key::Name(name) => names.contains(name.bind(py))?,
                    _ => {
                        path.push(',');
                        true
                    }
                };
                if is_named && key.put_json(py, &mut path)? {
                    text = Some(path);
                }
            }
            if let (Some(path), Some(now), (Some(_), _)) = (&text, now, seen.way)
                && !self.is_held(index, Some(walk))
            {
                for (at, (key, value)) in now.parts.iter().flatten().enumerate() {
                    let Value::Object(object) = value else { continue };
                    let Some((number, _)) = walk.get().met(object.as_ptr() as usize) else { continue };
                    // where the block put it, a replay finds what was there before
                    if !seen.held_there(py, at, key, value) {
                        continue;
                    }
                    let mut whole = format!("{path},");
                    if !located.contains(&number) && key.put_json(py, &mut whole)? {
                        paths.push((format!("[{whole}]"), number));
                        located.insert(number);
                    }
                }
            }
            texts.push(text);
        }
        Ok(paths)
    }
}

impl Again {
    /// Objects of the graph that are where they were not when the block began: those that were elsewhere, and those that were nowhere.
    fn put(&self, py: Python<'_>, walk: &Bound<'_, Walk>) -> (BTreeSet<usize>, BTreeSet<usize>) {
        let sight = self.sight.get();
        let known: Addresses<()> = sight.addresses().map(|address| (address, ())).collect();
        let (mut moved, mut made, mut stays) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let deque = py.import("_collections").and_then(|module| module.getattr("deque"));
        for (index, (seen, now)) in sight.seen.iter().zip(&self.found).enumerate() {
            let Some((now, parts)) = now.as_ref().and_then(|now| Some((now, now.parts.as_ref()?))) else { continue };
            // all that is in it moves when one is added at an end; who else refers to that cannot be told (`Node::is_exposed`)
            if deque.as_ref().is_ok_and(|deque| now.object.bind(py).get_type().is(deque)) {
                continue;
            }
            for (at, (key, value)) in parts.iter().enumerate() {
                let Value::Object(object) = value else { continue };
                let address = object.as_ptr() as usize;
                let Some((number, _)) = walk.get().met(address) else { continue };
                if seen.held_there(py, at, key, value) {
                    if self.is_held(index, Some(walk)) {
                        stays.insert(number);
                    }
                } else if known.contains_key(&address) {
                    moved.insert(number);
                } else {
                    made.insert(number);
                }
            }
        }
        (moved.difference(&stays).copied().collect(), made)
    }

    fn is_held(&self, index: usize, walk: Option<&Bound<'_, Walk>>) -> bool {
        let identity = self.sight.get().seen.get(index).map(|seen| seen.identity);
        match (identity, walk) {
            (Some(identity), Some(walk)) => walk.get().met(identity).is_some_and(|(_, is_held)| is_held),
            _ => false,
        }
    }
}
