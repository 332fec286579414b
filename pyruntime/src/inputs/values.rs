//! The values that were taken, and those that a replay gives back.
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::prelude::*;
use serde::Serialize;

use crate::guard::panics::guard;
use crate::locks::lock;

/// A run keeps at most so many bytes of them; beyond, none.
const MOST_BYTES: usize = 16 << 20;
/// About what one number takes in the journal.
const NUMBER_BYTES: usize = 8;

/// Values taken one after another at one place.
#[derive(Debug, Default)]
struct Taken {
    path: Arc<str>,
    name: Arc<str>,
    numbers: Vec<i64>,
    others: Vec<String>,
}

/// `[path, name, differences, others]`
#[derive(Serialize)]
struct Told<'a>(&'a str, &'a str, Vec<i64>, &'a [String]);

#[derive(Default)]
pub(super) struct Inputs {
    taken: Vec<Taken>,
    bytes: usize,
    pub is_full: bool,
    pub spent: Duration,
    /// What a replay gives back.
    given: HashMap<(Arc<str>, Arc<str>), Given>,
    missing: HashMap<Arc<str>, usize>,
    /// What added statements asked for: they got what is now, and not what was then.
    pub asked: BTreeSet<Arc<str>>,
}

/// How a name ends of what libraries ask for while they are imported: which of them are is up to what was imported before.
pub const AS_IMPORTED: &str = ", as it was imported";

#[derive(Default)]
pub(super) struct Given {
    numbers: Vec<i64>,
    others: Vec<Py<PyAny>>,
    next: usize,
}

static INPUTS: Mutex<Option<Inputs>> = Mutex::new(None);

/// Does nothing where no values are kept or given.
pub(super) fn with<T: Default>(work: impl FnOnce(&mut Inputs) -> T) -> T {
    lock(&INPUTS).as_mut().map(work).unwrap_or_default()
}

/// `(path, name, differences, others)` of a journal record.
pub(super) type Recorded = (String, String, Vec<i64>, Vec<Py<PyAny>>);

impl Inputs {
    pub fn giving(given: impl IntoIterator<Item = Recorded>) -> Self {
        let mut inputs = Inputs::default();
        for (path, name, differences, mut others) in given {
            let slot = inputs.given.entry((path.into(), name.into())).or_default();
            let mut at = 0i64;
            slot.numbers.extend(differences.iter().map(|step| {
                at = at.wrapping_add(*step);
                at
            }));
            slot.others.append(&mut others);
        }
        inputs
    }

    /// They are those of this process from now on; returns those before.
    pub fn begin(self) -> Option<Inputs> {
        lock(&INPUTS).replace(self)
    }

    /// Keeps a value that `name` returned at a place.
    pub fn take(&mut self, path: Arc<str>, name: &Arc<str>, number: Option<i64>, other: Option<String>) {
        self.bytes += other.as_ref().map_or(NUMBER_BYTES, String::len);
        let is_same = |last: &&mut Taken| Arc::ptr_eq(&last.path, &path) && last.name == *name;
        // two clocks in turn
        let found = self.taken.len().saturating_sub(4);
        let taken = match self.taken[found..].iter_mut().find(is_same) {
            Some(taken) => taken,
            None => {
                self.bytes += path.len() + name.len();
                self.taken.push(Taken { path, name: name.clone(), ..Taken::default() });
                let last = self.taken.len() - 1;
                &mut self.taken[last]
            }
        };
        taken.numbers.extend(number);
        taken.others.extend(other);
        self.is_full = self.bytes > MOST_BYTES;
    }

    /// The next value that `name` returned at a place: a number, or something else. `is_told`: whether it is missed if it is not there.
    pub fn give(
        &mut self,
        py: Python<'_>,
        path: Arc<str>,
        name: &Arc<str>,
        is_told: bool,
    ) -> (Option<i64>, Option<Py<PyAny>>) {
        let slot = self.given.entry((path, name.clone())).or_default();
        slot.next += 1;
        let at = slot.next - 1;
        let other = slot.others.get(at).map(|other| other.clone_ref(py));
        let number = slot.numbers.get(at).copied();
        if other.is_none() && number.is_none() && is_told && !name.ends_with(AS_IMPORTED) {
            self.miss(name);
        }
        (number, other)
    }

    /// What `name` returned next at a place, of what is no number; it stays the next.
    pub fn next(&self, py: Python<'_>, path: Arc<str>, name: &Arc<str>) -> Option<Py<PyAny>> {
        let slot = self.given.get(&(path, name.clone()))?;
        slot.others.get(slot.next).map(|other| other.clone_ref(py))
    }

    /// The next value at a place is not wanted, or was given.
    pub fn skip(&mut self, path: Arc<str>, name: &Arc<str>) {
        self.given.entry((path, name.clone())).or_default().next += 1;
    }

    /// A number that may be in the record.
    pub fn find(&self, path: Arc<str>, name: &Arc<str>) -> Option<i64> {
        self.given.get(&(path, name.clone()))?.numbers.first().copied()
    }

    /// What was asked for is not in the record.
    pub fn miss(&mut self, name: &Arc<str>) {
        *self.missing.entry(name.clone()).or_default() += 1;
    }
}

/// What was taken since the last call, as JSON, if anything; and whether no more will be kept, as it would be too much.
#[pyfunction]
pub fn inputs_taken() -> PyResult<(Option<String>, bool)> {
    // a panic that Python hands back to native code is printed by pyo3 on its way
    guard(|| {
        let (taken, is_full) = with(|inputs| (std::mem::take(&mut inputs.taken), inputs.is_full));
        if taken.is_empty() {
            return Ok((None, is_full));
        }
        let text = told(&taken).map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
        Ok((Some(text), is_full))
    })
}

/// Seconds that keeping values took.
#[pyfunction]
pub fn inputs_spent() -> f64 {
    with(|inputs| inputs.spent.as_secs_f64())
}

/// Of each function, how many values a replay asked for that the record does not have.
#[pyfunction]
pub fn inputs_missing() -> HashMap<String, usize> {
    with(|inputs| inputs.missing.iter().map(|(name, count)| (name.to_string(), *count)).collect())
}

/// Functions that added statements asked for what is now.
#[pyfunction]
pub fn inputs_asked_now() -> Vec<String> {
    with(|inputs| inputs.asked.iter().map(ToString::to_string).collect())
}

fn told(taken: &[Taken]) -> serde_json::Result<String> {
    let one = |taken: &Taken| -> serde_json::Result<String> {
        let mut last = 0i64;
        let differences = taken.numbers.iter().map(|number| number.wrapping_sub(std::mem::replace(&mut last, *number)));
        serde_json::to_string(&Told(&taken.path, &taken.name, differences.collect(), &taken.others))
    };
    let all: Vec<String> = taken.iter().map(one).collect::<Result<_, _>>()?;
    Ok(format!("{{\"taken\":[{}]}}", all.join(",")))
}
