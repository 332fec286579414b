//! Where values come from outside: functions of C that ask a clock, the kernel's entropy, the process. Each has a stand-in
//! (`definitions.rs`), whoever calls it and however that is written.
//!
//! What the script's own files ask for is kept, and what libraries ask clocks and the kernel's entropy for: theirs too decides what is
//! computed. Clocks of modules that wait by them (`callers::WAITS`), for threads and children that are there again in a
//! replay, are theirs: they must not be told the time of the recorded run.
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use pyo3::exceptions::PyValueError;
use pyo3::ffi::{self, PyObject};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyModule, PyString, PyTuple};

use super::askers::{Asked, Form, From, Source};
use super::callers::{self, scripts_frame};
use super::clocks::{self, Clock, Unit, is_let_go};
use super::connections;
use super::definitions::{Call, Definition, StandIn, stand_in};
use super::elsewhere::{self, GivenOut};
use super::observed::{RAISED, gives, in_added_statement, is_on, swallowed};
use super::orders;
use super::pipes;
use super::programs::{Starts, Waits, has_room};
use super::values::{AS_IMPORTED, with};
use crate::guard::interrupts::{Hold, is_at_work};
use crate::locks::lock;
use crate::nest::follow::place_now;
use crate::nest::owner::is_followed;

/// `(module, name, told as, form, most, is for anybody)`
pub(super) type Wanted = (String, String, String, String, usize, bool);

/// Those whose module is not imported yet.
static WANTED: Mutex<Vec<Wanted>> = Mutex::new(Vec::new());
/// Those that cannot have a stand-in in this Python.
static UNSEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// `encode(name, value, args)`, `decode(name, this, kept, args, kwargs)`.
static HOW: Mutex<Option<How>> = Mutex::new(None);
type How = (Py<PyAny>, Py<PyAny>);

/// How the stream of what loggers ask ends.
const OF_LOGGERS: &str = " in logging";
/// Bytes of a seed that florc draws.
const SEED_BYTES: usize = 32;

/// Looks at these from now on, once their modules are imported.
#[pyfunction]
pub fn watch_sources(
    py: Python<'_>,
    wanted: Vec<Wanted>,
    modules: [HashSet<String>; 3],
    how: (Py<PyAny>, Py<PyAny>, Py<PyAny>),
) -> PyResult<()> {
    let is_first = lock(&HOW).replace((how.0, how.1)).is_none();
    if is_first {
        *lock(&WANTED) = wanted;
        orders::begin(py)?;
        elsewhere::begin();
        callers::begin(modules, how.2);
    }
    look_for_sources(py)
}

/// Functions that this Python does not let florc look at.
#[pyfunction]
pub fn unseen_sources() -> Vec<String> {
    lock(&UNSEEN).clone()
}

/// A module may have been imported.
pub fn look_for_sources(py: Python<'_>) -> PyResult<()> {
    if lock(&WANTED).is_empty() {
        return Ok(());
    }
    let wanted = std::mem::take(&mut *lock(&WANTED));
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?.cast_into::<PyDict>()?;
    let mut left = Vec::new();
    for each in wanted {
        let Some(Ok(module)) = modules.get_item(&each.0)?.map(Bound::cast_into::<PyModule>) else {
            left.push(each);
            continue;
        };
        let (_, name, told, way, most, is_for_anybody) = each;
        let form = match way.as_str() {
            "float" => Form::Float,
            "whole" => Form::Whole,
            "seed" => Form::Seed,
            "read" | "hear" => Form::Read,
            _ => Form::Other,
        };
        let told: Arc<str> = told.into();
        let source = |definition: &'static Definition| -> Box<dyn StandIn> {
            match way.as_str() {
                "starts" => Box::new(Starts(definition, told.clone())),
                "waits" => Box::new(Waits(definition)),
                "given out" => Box::new(GivenOut(definition)),
                _ => Box::new(Source {
                    definition,
                    name: told.clone(),
                    form,
                    most,
                    is_for_anybody,
                    is_of_socket: way == "hear",
                    clock: match form {
                        Form::Float => Some(Clock::new(Unit::Seconds)),
                        Form::Whole if told.starts_with("time.") => Some(Clock::new(Unit::Nanoseconds)),
                        _ => None,
                    },
                }),
            }
        };
        if !stand_in(&module, &name, source)? && module.dict().contains(name.split('.').next().unwrap_or(&name))? {
            lock(&UNSEEN).push(told.to_string());
        }
    }
    lock(&WANTED).extend(left);
    Ok(())
}

impl StandIn for Source {
    fn call(&self, call: Call) -> *mut PyObject {
        // SAFETY: the call came to the stand-in of this definition
        let plain = || unsafe { call.of(self.definition) };
        if !is_on() || is_at_work() {
            return plain();
        }
        // SAFETY: Python calls a function of C with the interpreter's lock held
        let py = unsafe { Python::assume_attached() };
        if !is_followed() {
            let shown = swallowed(py, || self.elsewhere(py, call));
            return shown.map_or_else(
                |error| {
                    error.restore(py);
                    std::ptr::null_mut()
                },
                |shown| shown.flatten().map_or_else(plain, Bound::into_ptr),
            );
        }
        let asked = match swallowed(py, || self.asker(py, call)) {
            Ok(Some(Some(asked))) => self.ask(py, call, &asked, plain),
            Ok(_) => return plain(),
            Err(error) => Err(error),
        };
        asked.unwrap_or_else(|error| {
            error.restore(py);
            std::ptr::null_mut()
        })
    }
}

impl Source {
    fn ask(
        &self,
        py: Python<'_>,
        call: Call,
        asked: &Asked,
        plain: impl Fn() -> *mut PyObject,
    ) -> PyResult<*mut PyObject> {
        let stream = &asked.stream;
        let _held = Hold::new(); // what it asks itself is part of its own value
        if in_added_statement() {
            if !gives() {
                return Ok(plain());
            }
            let is_librarys_clock = asked.is_librarys && self.is_of_time();
            if is_librarys_clock && (stream.ends_with(OF_LOGGERS) || stream.ends_with(AS_IMPORTED)) {
                return Ok(plain()); // a record has the present time; a value that shows it is told by that
            }
            let is_let_go = || scripts_frame(py)?.map_or(Ok(false), |frame| is_let_go(&frame));
            if !is_librarys_clock || !swallowed(py, is_let_go)?.unwrap_or_default() {
                with(|inputs| inputs.asked.insert(stream.clone()));
            }
            let shown = self.clock.as_ref().filter(|_| is_librarys_clock).map(|clock| clock.goes_on(py)).transpose()?;
            return Ok(shown.flatten().map_or_else(plain, Bound::into_ptr));
        }
        if gives() {
            if let From::Program(descriptor) = asked.from {
                let read = pipes::Read { py, stream, descriptor, is_all: self.reads_all(py, call)? };
                let decoded = |kept: &str| {
                    let kept = PyString::new(py, kept).into_any();
                    swallowed(py, || self.decoded(py, call, stream, &kept)).map(Option::flatten)
                };
                return read.instead(decoded, plain);
            }
            let kept = swallowed(py, || self.give(py, call, asked))?.flatten();
            if let (From::Connection(descriptor), Some(given)) = (asked.from, &kept) {
                let bytes = given.extract().or_else(|_| given.len())?;
                py.detach(|| connections::heard(descriptor, bytes));
            }
            return match kept {
                Some(value) => Ok(value.into_ptr()),
                None => {
                    let shown = self.clock.as_ref().map(|clock| clock.goes_on(py));
                    Ok(shown.transpose()?.flatten().map_or_else(plain, Bound::into_ptr))
                }
            };
        }
        if with(|inputs| inputs.is_full) || asked.is_librarys && self.is_of_time() && !clocks::has_room() {
            return Ok(plain());
        }
        if self.form == Form::Seed {
            return self.seed(py, call, stream);
        }
        let made = plain();
        let begun = Instant::now();
        // SAFETY: a new reference that is ours, or null, where the error is set
        match unsafe { Bound::from_owned_ptr_or_opt(py, made) } {
            Some(value) => {
                swallowed(py, || self.keep(&value, call, asked))?;
                with(|inputs| inputs.spent += begun.elapsed());
                Ok(value.into_ptr())
            }
            None => {
                let error = PyErr::take(py);
                if matches!(self.form, Form::Other | Form::Read) {
                    let path = place_now();
                    with(|inputs| inputs.take(path, stream, None, Some(RAISED.to_owned())));
                }
                match error {
                    Some(error) => Err(error),
                    None => Ok(std::ptr::null_mut()),
                }
            }
        }
    }

    fn keep(&self, value: &Bound<'_, PyAny>, call: Call, asked: &Asked) -> PyResult<()> {
        let Asked { stream, from, .. } = asked;
        let py = value.py();
        let (number, text) = match self.form {
            Form::Float => (Some(value.cast::<PyFloat>()?.value().to_bits().cast_signed()), None),
            Form::Whole => (Some(value.cast::<PyInt>()?.extract()?), None),
            Form::Other | Form::Read | Form::Seed => {
                let Some(encode) = lock(&HOW).as_ref().map(|how| how.0.clone_ref(py)) else { return Ok(()) };
                // SAFETY: the call is going on
                let (args, _) = unsafe { call.arguments(py, self.definition.flags()) }?;
                (None, Some(encode.call1(py, (&*self.name, value, args))?.extract::<String>(py)?))
            }
        };
        if *from != From::Kernel && !text.as_ref().is_some_and(|text| has_room(text.len())) {
            return Ok(());
        }
        let path = place_now();
        with(|inputs| inputs.take(path, stream, number, text));
        Ok(())
    }

    fn give<'py>(&self, py: Python<'py>, call: Call, asked: &Asked) -> PyResult<Option<Bound<'py, PyAny>>> {
        let path = place_now();
        let stream = &asked.stream;
        // a library that waits for others asks a clock as often as it takes
        let is_told = !asked.is_librarys || !self.is_of_time();
        let (number, kept) = with(|inputs| inputs.give(py, path, stream, is_told));
        if let (Some(number), Some(clock)) = (number, &self.clock) {
            clock.showed(number);
        }
        match (number, kept, self.form) {
            (Some(number), _, Form::Float) => {
                Ok(Some(PyFloat::new(py, f64::from_bits(number.cast_unsigned())).into_any()))
            }
            (Some(number), _, Form::Whole) => Ok(Some(PyInt::new(py, number).into_any())),
            (_, Some(kept), Form::Seed) => self.seeded(py, call, kept.extract(py)?).map(Some),
            (_, Some(kept), Form::Other | Form::Read) if kept.extract::<&str>(py)? != RAISED => {
                self.decoded(py, call, stream, kept.bind(py))
            }
            _ => Ok(None),
        }
    }

    /// What is kept, as this call returns it.
    fn decoded<'py>(
        &self,
        py: Python<'py>,
        call: Call,
        stream: &Arc<str>,
        kept: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(decode) = lock(&HOW).as_ref().map(|how| how.1.clone_ref(py)) else { return Ok(None) };
        // SAFETY: the call is going on
        let (args, kwargs) = unsafe { call.arguments(py, self.definition.flags()) }?;
        // SAFETY: as above
        let this = unsafe { Bound::from_borrowed_ptr_or_opt(py, call.this()) };
        let given = decode.bind(py).call1((&*self.name, this, kept, args, kwargs))?;
        if given.is(py.NotImplemented()) {
            with(|inputs| inputs.miss(stream));
            return Ok(None);
        }
        Ok(Some(given))
    }

    pub(super) fn is_of_time(&self) -> bool {
        self.name.starts_with("time.") || self.name.starts_with("datetime.")
    }

    /// Whether it reads a file to its end.
    fn reads_all(&self, py: Python<'_>, call: Call) -> PyResult<bool> {
        if &*self.name != "io.FileIO.read" {
            return Ok(&*self.name == "io.FileIO.readall");
        }
        // SAFETY: the call is going on
        let (args, _) = unsafe { call.arguments(py, self.definition.flags()) }?;
        Ok(args.get_item(0).map_or(Ok(-1), |most| most.extract().or(Ok::<_, PyErr>(-1)))? < 0)
    }

    /// A generator gets a seed of florc's, which is kept.
    fn seed(&self, py: Python<'_>, call: Call, stream: &Arc<str>) -> PyResult<*mut PyObject> {
        let mut drawn = [0u8; SEED_BYTES];
        // SAFETY: the buffer has as many bytes
        let count = unsafe { libc::getrandom(drawn.as_mut_ptr().cast(), drawn.len(), 0) };
        if usize::try_from(count) != Ok(drawn.len()) {
            return Err(PyValueError::new_err("the kernel gave no entropy"));
        }
        let kept: String = drawn.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = place_now();
        let made = self.seeded(py, call, &kept)?;
        with(|inputs| inputs.take(path, stream, None, Some(kept)));
        Ok(made.into_ptr())
    }

    fn seeded<'py>(&self, py: Python<'py>, call: Call, kept: &str) -> PyResult<Bound<'py, PyAny>> {
        let number = py.get_type::<PyInt>().call1((kept, 16))?;
        let args = [number.as_ptr()];
        let tuple = PyTuple::new(py, [&number])?;
        let (this, flags) = (call.this(), self.definition.flags());
        let call = match call {
            Call::One(..) if flags & ffi::METH_O != 0 => Call::One(this, number.as_ptr()),
            Call::One(..) => Call::One(this, tuple.as_ptr()),
            Call::Named(_, _, names) => Call::Named(this, tuple.as_ptr(), names),
            Call::Fast(..) => Call::Fast(this, args.as_ptr(), 1),
            Call::FastNamed(..) => Call::FastNamed(this, args.as_ptr(), 1, std::ptr::null_mut()),
            Call::OfClass(_, class, ..) => Call::OfClass(this, class, args.as_ptr(), 1, std::ptr::null_mut()),
        };
        // SAFETY: the call came to the stand-in of this definition; a new reference or null comes back
        unsafe { Bound::from_owned_ptr_or_err(py, call.of(self.definition)) }
    }
}
