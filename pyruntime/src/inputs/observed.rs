//! What stands in for a function whose values come from outside.
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyTuple};

use super::hashes;
use super::values::{Inputs, Recorded, with};
use crate::guard::interrupts::Hold;
use crate::guard::panics::{guard, mishap};
use crate::locks::lock;
use crate::nest::follow::place_now;
use crate::nest::owner::is_followed;

/// Stands in a journal for a call that raised: so it does again.
pub(super) const RAISED: &str = "!";
/// The form of a file whose lines are taken: as `again`, of each line.
const LINES: &str = "lines";
/// The form of methods, which are other objects each time they are named: a float.
const METHOD: &str = "method";

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
    /// What `inputs.encode` makes of it: a text.
    Other,
    /// As `Other`, errors too; a replay does it again, as `inputs.decode` says.
    Again,
    /// Neither kept nor given back: whether it comes from an address is noted.
    Hash,
}

/// By the address of a C function and of what it is bound to; of another function by its own, and 0.
type Known = HashMap<(usize, usize), Py<Observed>>;

static ON: AtomicBool = AtomicBool::new(false);
static GIVES: AtomicBool = AtomicBool::new(false);
/// While above zero, what runs is an added statement's: it sees the true clock.
static ADDED: AtomicI64 = AtomicI64::new(0);
static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
/// `inputs.known(callee)`, `inputs.encode(name, value)`, `inputs.decode(name, callee, encoded, args, kwargs)`.
static HOW: Mutex<Option<[Py<PyAny>; 3]>> = Mutex::new(None);

/// Whether values are kept or given.
pub(super) fn is_on() -> bool {
    ON.load(Ordering::Acquire)
}

/// Whether they are given.
pub(super) fn gives() -> bool {
    GIVES.load(Ordering::Acquire)
}

pub(super) fn in_added_statement() -> bool {
    ADDED.load(Ordering::Relaxed) != 0
}

fn known<T: Default>(work: impl FnOnce(&mut Known) -> T) -> T {
    lock(&KNOWN).as_mut().map(work).unwrap_or_default()
}

/// From now on values are kept, or, where `given` is there, given back.
#[pyfunction]
#[pyo3(signature = (known, encode, decode, given=None))]
pub fn observe(known: Py<PyAny>, encode: Py<PyAny>, decode: Py<PyAny>, given: Option<Vec<Recorded>>) {
    GIVES.store(given.is_some(), Ordering::Release);
    let old = Inputs::giving(given.into_iter().flatten()).begin();
    let how = lock(&HOW).replace([known, encode, decode]);
    let known = lock(&KNOWN).replace(HashMap::new());
    ON.store(true, Ordering::Release);
    drop((old, known, how));
}

/// Values are neither kept nor given any more.
#[pyfunction]
pub fn observe_no_more() {
    ON.store(false, Ordering::Release);
    let how = lock(&HOW).take();
    let known = lock(&KNOWN).take();
    drop((how, known));
}

/// An added statement begins (1) or is over (-1).
#[pyfunction]
pub fn in_added(change: i64) {
    ADDED.fetch_add(change, Ordering::Relaxed);
}

/// What is to be called in the place of `callee`: itself, or what keeps or gives back its value.
///
/// # Errors
/// What a handler of a signal of the script's raised meanwhile.
#[pyfunction]
pub fn observed<'py>(callee: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let is_added = ADDED.load(Ordering::Relaxed) != 0;
    if !ON.load(Ordering::Acquire) || is_added && !GIVES.load(Ordering::Acquire) || !is_followed() {
        return Ok(callee);
    }
    Ok(match swallowed(callee.py(), || stand_in(&callee))? {
        Some(Some(observed)) if !is_added || observed.get().is_plain() => observed.into_any(),
        _ => callee,
    })
}

fn how(py: Python<'_>, which: usize) -> Option<Py<PyAny>> {
    lock(&HOW).as_ref().map(|how| how[which].clone_ref(py))
}

fn stand_in<'py>(callee: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, Observed>>> {
    let py = callee.py();
    let key = key_of(callee);
    if let Some(known) = known(|known| known.get(&key).map(|known| known.clone_ref(py))) {
        return Ok(Some(known.into_bound(py)));
    }
    let Some(ask) = how(py, 0) else { return Ok(None) };
    let Some((name, form, most)) = ask.call1(py, (callee,))?.extract::<Option<(String, String, usize)>>(py)? else {
        return Ok(None);
    };
    let is_kept = form != METHOD;
    let callee = if form == LINES { callee.getattr("__next__")? } else { callee.clone() };
    let form = match form.as_str() {
        "float" | METHOD => Form::Float,
        "again" | LINES => Form::Again,
        "hash" => Form::Hash,
        _ => Form::Other,
    };
    let made = Py::new(py, Observed { callee: callee.unbind(), name: name.into(), form, most })?;
    if is_kept {
        let before = known(|known| known.insert(key, made.clone_ref(py)));
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
///
/// # Errors
/// What is the script's (`mishap`).
pub(super) fn swallowed<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<Option<T>> {
    let _held = Hold::new();
    match guard(work) {
        Ok(done) => Ok(Some(done)),
        Err(error) => mishap(py, "keeping a value from outside", error).map(|()| None),
    }
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
                swallowed(py, || hashes::asked(&object, &value))?;
            }
            return Ok(value);
        }
        if GIVES.load(Ordering::Acquire) {
            return match swallowed(py, || self.give(args, kwargs))? {
                Some(Some(again)) if self.is_done_again() => self.again(&again, args, kwargs),
                Some(Some(value)) => Ok(value),
                _ => callee.call(args, kwargs),
            };
        }
        let value = callee.call(args, kwargs);
        let begun = Instant::now();
        match &value {
            Ok(value) => swallowed(py, || self.keep(value)),
            Err(error) if self.is_done_again() => swallowed(py, || self.keep(error.value(py))),
            Err(_) => swallowed(py, || self.keep_text(RAISED.to_owned())),
        }?;
        with(|inputs| inputs.spent += begun.elapsed());
        value
    }
}

impl Observed {
    /// Whether it is a function that only returns a value.
    fn is_plain(&self) -> bool {
        matches!(self.form, Form::Float | Form::Other)
    }

    /// Whether a replay calls it, too.
    fn is_done_again(&self) -> bool {
        self.form == Form::Again
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
        swallowed(py, || leave.call1((made.as_ref().ok(),)))?;
        made
    }

    fn keep(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if with(|inputs| inputs.is_full) {
            return Ok(());
        }
        let py = value.py();
        let (number, text) = match self.form {
            Form::Float => (Some(value.cast::<PyFloat>()?.value().to_bits().cast_signed()), None),
            Form::Other | Form::Again | Form::Hash => {
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
        with(|inputs| inputs.take(path, &self.name, number, other));
    }

    fn give<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = args.py();
        let path = place_now();
        let (number, other) = with(|inputs| inputs.give(py, path, &self.name, true));
        match (number, other, self.form) {
            (Some(number), _, Form::Float) => {
                Ok(Some(PyFloat::new(py, f64::from_bits(number.cast_unsigned())).into_any()))
            }
            (_, Some(other), Form::Other | Form::Again) if other.extract::<&str>(py)? != RAISED => {
                let Some(decode) = how(py, 2) else { return Ok(None) };
                decode.bind(py).call1((&*self.name, &self.callee, other, args, kwargs)).map(Some)
            }
            _ => Ok(None),
        }
    }
}
