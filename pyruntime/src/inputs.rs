//! Values that the script takes from outside (clocks, entropy): kept while recording, given back in a replay at the same place.
//!
//! Emitted code has `observed(time.time)()` for `time.time()`. What is called is looked at when it is called: for a function that
//! `florc/inputs/known.py` knows, something stands in that calls it and keeps what it returned. A value belongs to the path in the loop
//! nest at which it was taken, to the function, and to how many were taken there before: blocks that are skipped take theirs along.
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyTuple};
use serde::Serialize;

use crate::errors::guard;
use crate::follow::{is_followed, place_now};
use crate::hashes;
use crate::locks::lock;

/// A run keeps at most so many bytes of them; beyond, none.
const MOST_BYTES: usize = 16 << 20;
/// Stands in a journal for a call that raised: so it does again.
const RAISED: &str = "!";
/// The form of a file whose lines are taken: as `again`, of each line.
const LINES: &str = "lines";
/// The forms of methods, which are other objects each time they are named: a float; what it draws from the kernel.
const METHOD: &str = "method";
const DRAWN: &str = "drawn";
/// About what one number takes in the journal.
const NUMBER_BYTES: usize = 8;

/// What stands in for a function, and how its values are kept.
#[pyclass(frozen, module = "florc._native")]
pub struct Observed {
    callee: Py<PyAny>,
    name: Arc<str>,
    form: Form,
    /// With more arguments than this that are not None, its value is computed from them.
    most: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// A float: its bits.
    Float,
    /// A whole number of 64 bits.
    Whole,
    /// What `inputs.encode` makes of it: a text.
    Other,
    /// As `Other`, errors too; a replay does it again, as `inputs.decode` says.
    Again,
    /// As `Again`: what its method drew from the kernel while it ran (`inputs/drawn.py`).
    Drawn,
    /// Neither kept nor given back: whether it comes from an address is noted.
    Hash,
}

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
struct Inputs {
    /// By the address of a C function and of what it is bound to; of another function by its own, and 0.
    known: HashMap<(usize, usize), Py<Observed>>,
    taken: Vec<Taken>,
    bytes: usize,
    is_full: bool,
    spent: Duration,
    /// What a replay gives back.
    given: HashMap<(Arc<str>, Arc<str>), Given>,
    missing: HashMap<Arc<str>, usize>,
    /// What added statements asked for: they got what is now, and not what was then.
    asked: BTreeSet<Arc<str>>,
}

#[derive(Default)]
struct Given {
    numbers: Vec<i64>,
    others: Vec<Py<PyAny>>,
    next: usize,
}

static ON: AtomicBool = AtomicBool::new(false);
static GIVES: AtomicBool = AtomicBool::new(false);
/// While above zero, what runs is an added statement's: it sees the true clock.
static ADDED: AtomicI64 = AtomicI64::new(0);
static INPUTS: Mutex<Option<Inputs>> = Mutex::new(None);
/// `inputs.known(callee)`, `inputs.encode(name, value)`, `inputs.decode(name, callee, encoded, args, kwargs)`,
/// `inputs.before()`: a method of form `Drawn` is about to be called.
static HOW: Mutex<Option<[Py<PyAny>; 4]>> = Mutex::new(None);

fn with<T: Default>(work: impl FnOnce(&mut Inputs) -> T) -> T {
    lock(&INPUTS).as_mut().map(work).unwrap_or_default()
}

/// `(path, name, differences, others)` of a journal record.
type Recorded = (String, String, Vec<i64>, Vec<Py<PyAny>>);

/// From now on values are kept, or, where `given` is there, given back.
#[pyfunction]
#[pyo3(signature = (known, encode, decode, before, given=None))]
pub fn observe(
    known: Py<PyAny>,
    encode: Py<PyAny>,
    decode: Py<PyAny>,
    before: Py<PyAny>,
    given: Option<Vec<Recorded>>,
) {
    let mut inputs = Inputs::default();
    GIVES.store(given.is_some(), Ordering::Release);
    for (path, name, differences, mut others) in given.into_iter().flatten() {
        let slot = inputs.given.entry((path.into(), name.into())).or_default();
        let mut at = 0i64;
        slot.numbers.extend(differences.iter().map(|step| {
            at = at.wrapping_add(*step);
            at
        }));
        slot.others.append(&mut others);
    }
    let old = lock(&INPUTS).replace(inputs);
    let how = lock(&HOW).replace([known, encode, decode, before]);
    ON.store(true, Ordering::Release);
    drop((old, how));
}

/// Values are neither kept nor given any more.
#[pyfunction]
pub fn observe_no_more() {
    ON.store(false, Ordering::Release);
    let how = lock(&HOW).take();
    let known = with(|inputs| std::mem::take(&mut inputs.known));
    drop((how, known));
}

/// An added statement begins (1) or is over (-1).
#[pyfunction]
pub fn in_added(change: i64) {
    ADDED.fetch_add(change, Ordering::Relaxed);
}

/// What was taken since the last call, as JSON, if anything; and whether no more will be kept, as it would be too much.
#[pyfunction]
pub fn inputs_taken() -> PyResult<(Option<String>, bool)> {
    let (taken, is_full) = with(|inputs| (std::mem::take(&mut inputs.taken), inputs.is_full));
    if taken.is_empty() {
        return Ok((None, is_full));
    }
    let text = guard(|| told(&taken).map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string())))?;
    Ok((Some(text), is_full))
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

/// What is to be called in the place of `callee`: itself, or what keeps or gives back its value.
#[pyfunction]
pub fn observed<'py>(callee: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    let is_added = ADDED.load(Ordering::Relaxed) != 0;
    if !ON.load(Ordering::Acquire) || is_added && !GIVES.load(Ordering::Acquire) || !is_followed() {
        return callee;
    }
    match swallowed(callee.py(), || stand_in(&callee)) {
        Some(Some(observed)) if !is_added || observed.get().is_plain() => observed.into_any(),
        _ => callee,
    }
}

fn how(py: Python<'_>, which: usize) -> Option<Py<PyAny>> {
    lock(&HOW).as_ref().map(|how| how[which].clone_ref(py))
}

fn stand_in<'py>(callee: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, Observed>>> {
    let py = callee.py();
    let key = key_of(callee);
    if let Some(known) = with(|inputs| inputs.known.get(&key).map(|known| known.clone_ref(py))) {
        return Ok(Some(known.into_bound(py)));
    }
    let Some(ask) = how(py, 0) else { return Ok(None) };
    let Some((name, form, most)) = ask.call1(py, (callee,))?.extract::<Option<(String, String, usize)>>(py)? else {
        return Ok(None);
    };
    let is_kept = form != METHOD && form != DRAWN;
    let callee = if form == LINES { callee.getattr("__next__")? } else { callee.clone() };
    let form = match form.as_str() {
        "float" | METHOD => Form::Float,
        "whole" => Form::Whole,
        "again" | LINES => Form::Again,
        DRAWN => Form::Drawn,
        "hash" => Form::Hash,
        _ => Form::Other,
    };
    let made = Py::new(py, Observed { callee: callee.unbind(), name: name.into(), form, most })?;
    if is_kept {
        let before = with(|inputs| inputs.known.insert(key, made.clone_ref(py)));
        drop(before);
    }
    Ok(Some(made.into_bound(py)))
}

/// A bound C function is another object each time it is named.
fn key_of(callee: &Bound<'_, PyAny>) -> (usize, usize) {
    let at = callee.as_ptr();
    // SAFETY: the type is checked; both functions only read fields of the object, which is held
    unsafe {
        if ffi::PyCFunction_CheckExact(at) == 0 {
            return (at as usize, 0);
        }
        (
            ffi::PyCFunction_GetFunction(at).map_or(0, |function| function as usize),
            ffi::PyCFunction_GetSelf(at) as usize,
        )
    }
}

/// What florc does for itself on the way of the script: whatever goes wrong is counted, and the script goes on.
fn swallowed<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> Option<T> {
    guard(work)
        .map_err(|error| {
            let told = py.import("florc.support.mishaps").and_then(|module| {
                module.call_method1("swallowed", ("keeping a value from outside", error.into_value(py)))
            });
            drop(told);
        })
        .ok()
}

#[pymethods]
impl Observed {
    fn __iter__(slf: Py<Observed>) -> Py<Observed> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__call__(&PyTuple::empty(py), None)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        let callee = self.callee.bind(py);
        let named = kwargs.into_iter().flat_map(|kwargs| kwargs.values());
        let count = args.iter().chain(named).filter(|arg| !arg.is_none()).count();
        if count > self.most {
            return callee.call(args, kwargs);
        }
        if ADDED.load(Ordering::Relaxed) != 0 {
            with(|inputs| inputs.asked.insert(self.name.clone()));
            return callee.call(args, kwargs);
        }
        if self.form == Form::Hash {
            let value = callee.call(args, kwargs)?;
            if let Ok(object) = args.get_item(0) {
                swallowed(py, || hashes::asked(&object, &value));
            }
            return Ok(value);
        }
        if GIVES.load(Ordering::Acquire) {
            return match swallowed(py, || self.give(args, kwargs)) {
                Some(Some(again)) if self.is_done_again() => self.again(&again, args, kwargs),
                Some(Some(value)) => Ok(value),
                _ => callee.call(args, kwargs),
            };
        }
        if self.form == Form::Drawn && !with(|inputs| inputs.is_full) {
            swallowed(py, || how(py, 3).map(|before| before.call0(py)).transpose());
        }
        let value = callee.call(args, kwargs);
        let begun = Instant::now();
        match &value {
            Ok(value) => swallowed(py, || self.keep(value)),
            Err(error) if self.is_done_again() => swallowed(py, || self.keep(error.value(py))),
            Err(_) => swallowed(py, || self.keep_text(RAISED.to_owned())),
        };
        with(|inputs| inputs.spent += begun.elapsed());
        value
    }
}

impl Observed {
    /// Whether it is a function that only returns a value.
    fn is_plain(&self) -> bool {
        matches!(self.form, Form::Float | Form::Whole | Form::Other | Form::Drawn)
    }

    /// Whether a replay calls it, too.
    fn is_done_again(&self) -> bool {
        matches!(self.form, Form::Again | Form::Drawn)
    }

    fn again<'py>(
        &self,
        how: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        let (call, with_arguments, leave): (Bound<'py, PyAny>, bool, Bound<'py, PyAny>) = how.extract()?;
        let made = if with_arguments { call.call(args, kwargs) } else { call.call0() };
        swallowed(py, || leave.call1((made.as_ref().ok(),)));
        made
    }

    fn keep(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if with(|inputs| inputs.is_full) {
            return Ok(());
        }
        let py = value.py();
        let (number, text) = match self.form {
            Form::Float => (Some(value.cast::<PyFloat>()?.value().to_bits().cast_signed()), None),
            Form::Whole => (Some(value.cast::<PyInt>()?.extract()?), None),
            Form::Other | Form::Again | Form::Drawn | Form::Hash => {
                let Some(encode) = how(py, 1) else { return Ok(()) };
                (None, Some(encode.call1(py, (&*self.name, value))?.extract::<String>(py)?))
            }
        };
        self.take(number, text);
        Ok(())
    }

    fn keep_text(&self, text: String) -> PyResult<()> {
        if self.form == Form::Other && !with(|inputs| inputs.is_full) {
            self.take(None, Some(text));
        }
        Ok(())
    }

    fn take(&self, number: Option<i64>, other: Option<String>) {
        let path = place_now();
        with(|inputs| {
            inputs.bytes += other.as_ref().map_or(NUMBER_BYTES, String::len);
            let is_same = |last: &&mut Taken| Arc::ptr_eq(&last.path, &path) && last.name == self.name;
            // two clocks in turn
            let found = inputs.taken.len().saturating_sub(4);
            let taken = match inputs.taken[found..].iter_mut().find(is_same) {
                Some(taken) => taken,
                None => {
                    inputs.bytes += path.len() + self.name.len();
                    inputs.taken.push(Taken { path, name: self.name.clone(), ..Taken::default() });
                    let last = inputs.taken.len() - 1;
                    &mut inputs.taken[last]
                }
            };
            taken.numbers.extend(number);
            taken.others.extend(other);
            inputs.is_full = inputs.bytes > MOST_BYTES;
        });
    }

    fn give<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = args.py();
        let key = (place_now(), self.name.clone());
        let (number, other) = with(|inputs| {
            let slot = inputs.given.entry(key).or_default();
            slot.next += 1;
            let at = slot.next - 1;
            let other = slot.others.get(at).map(|other| other.clone_ref(py));
            let number = slot.numbers.get(at).copied();
            if other.is_none() && number.is_none() {
                *inputs.missing.entry(self.name.clone()).or_default() += 1;
            }
            (number, other)
        });
        match (number, other, self.form) {
            (Some(number), _, Form::Float) => {
                Ok(Some(PyFloat::new(py, f64::from_bits(number.cast_unsigned())).into_any()))
            }
            (Some(number), _, Form::Whole) => Ok(Some(PyInt::new(py, number).into_any())),
            (_, Some(other), Form::Other | Form::Again | Form::Drawn) if other.extract::<&str>(py)? != RAISED => {
                let Some(decode) = how(py, 2) else { return Ok(None) };
                decode.bind(py).call1((&*self.name, &self.callee, other, args, kwargs)).map(Some)
            }
            _ => Ok(None),
        }
    }
}
