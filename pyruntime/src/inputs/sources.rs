//! Where values come from outside: functions of C that ask a clock, the kernel's entropy, the process. Each has a stand-in
//! (`definitions.rs`), whoever calls it and however that is written.
//!
//! What the script's own files ask for is kept, and what libraries ask the kernel's entropy for: theirs too decides what is computed.
//! Clocks that libraries ask are theirs: they wait by them, for threads and children that are there again in a replay, and must not
//! be told the time of the recorded run.
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use pyo3::exceptions::PyValueError;
use pyo3::ffi::{self, PyObject};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyModule, PyString, PyTuple};

use super::callers::{self, HANDS_ON, IN_NO_RESULT, THEIRS, is_one_of, is_ours, name_of};
use super::connections;
use super::definitions::{Call, Definition, StandIn, stand_in};
use super::observed::{RAISED, gives, in_added_statement, is_on, swallowed};
use super::orders;
use super::pipes;
use super::programs::{Starts, Waits, has_room};
use super::special::{ReadFrom, read_from};
use super::values::{AS_IMPORTED, with};
use crate::guard::interrupts::{Hold, is_at_work};
use crate::locks::lock;
use crate::nest::follow::place_now;
use crate::nest::owner::is_followed;

/// A function whose values come from outside.
pub struct Source {
    definition: &'static Definition,
    name: Arc<str>,
    form: Form,
    /// With more arguments than this that are not None, its value is computed from them.
    most: usize,
    is_for_anybody: bool,
    is_of_socket: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// A float: its bits.
    Float,
    /// A whole number of 64 bits.
    Whole,
    /// What `inputs.sources.encode` makes of it.
    Other,
    /// A generator is seeded, and nobody says with what: florc draws that.
    Seed,
    /// Bytes that are read, where they come from no file.
    Read,
}

/// In which stream a value stands.
struct Asked {
    stream: Arc<str>,
    from: From,
}

/// Who says it. A replay hears a program and another machine, too, and hands on what is kept.
#[derive(Clone, Copy, PartialEq)]
enum From {
    Kernel,
    Program(i32),
    Connection(i32),
}

/// `(module, name, told as, form, most, is for anybody)`
pub(super) type Wanted = (String, String, String, String, usize, bool);

/// Those whose module is not imported yet.
static WANTED: Mutex<Vec<Wanted>> = Mutex::new(Vec::new());
/// Those that cannot have a stand-in in this Python.
static UNSEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// `encode(name, value, args)`, `decode(name, this, kept, args, kwargs)`.
static HOW: Mutex<Option<How>> = Mutex::new(None);
type How = (Py<PyAny>, Py<PyAny>);

/// Bytes of a seed that florc draws.
const SEED_BYTES: usize = 32;

/// Looks at these from now on, once their modules are imported.
#[pyfunction]
pub fn watch_sources(
    py: Python<'_>,
    wanted: Vec<Wanted>,
    hands_on: HashSet<String>,
    in_no_result: HashSet<String>,
    how: (Py<PyAny>, Py<PyAny>, Py<PyAny>),
) -> PyResult<()> {
    let is_first = lock(&HOW).replace((how.0, how.1)).is_none();
    if is_first {
        *lock(&WANTED) = wanted;
        orders::begin();
        callers::begin(hands_on, in_no_result, how.2);
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
                _ => Box::new(Source {
                    definition,
                    name: told.clone(),
                    form,
                    most,
                    is_for_anybody,
                    is_of_socket: way == "hear",
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
        if !is_on() || !is_followed() || is_at_work() {
            return plain();
        }
        // SAFETY: Python calls a function of C with the interpreter's lock held
        let py = unsafe { Python::assume_attached() };
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
    /// In whose name the value is kept; None where it is not kept.
    fn asker(&self, py: Python<'_>, call: Call) -> PyResult<Option<Asked>> {
        // SAFETY: both are borrowed from the running frame, and looked at before it goes on
        let (builtins, globals) = unsafe {
            (
                Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetBuiltins()),
                Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetGlobals()),
            )
        };
        let (Some(builtins), Some(globals)) = (builtins, globals) else { return Ok(None) };
        let name = name_of(&globals)?;
        if is_ours(&builtins) && !name.as_deref().is_some_and(|name| is_one_of(HANDS_ON, name)) {
            return Ok(None);
        }
        let of_script = name.as_deref().is_none_or(|name| is_one_of(THEIRS, name));
        if !of_script && !self.is_for_anybody && !name.as_deref().is_some_and(|name| is_one_of(HANDS_ON, name)) {
            return Ok(None);
        }
        let (stream, from) = match self.takes(py, call)? {
            ReadFrom::File => return Ok(None),
            ReadFrom::Program(stream, descriptor) => (Some(stream), From::Program(descriptor)),
            ReadFrom::Connection(stream, descriptor) => (Some(stream), From::Connection(descriptor)),
            ReadFrom::Kernel if of_script => (Some(self.name.clone()), From::Kernel),
            ReadFrom::Kernel => (self.of_library(py)?, From::Kernel),
        };
        Ok(stream.map(|stream| Asked { stream, from }))
    }

    /// The same for what no file of the script's calls itself.
    fn of_library(&self, py: Python<'_>) -> PyResult<Option<Arc<str>>> {
        // SAFETY: borrowed; null where no code of Python runs
        let mut frame = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) };
        let (mut first, mut ending) = (None, "");
        while let Some(at) = frame {
            let name = name_of(&at.getattr(intern!(py, "f_globals"))?)?;
            let name = name.as_deref().unwrap_or("__main__");
            if is_ours(&at.getattr(intern!(py, "f_builtins"))?) && !is_one_of(HANDS_ON, name) {
                return Ok(None);
            }
            let is_scripts = is_one_of(THEIRS, name);
            if name == "importlib._bootstrap" {
                ending = AS_IMPORTED;
            }
            if first.is_none() && !is_one_of(HANDS_ON, name) {
                first = Some(if is_scripts { String::new() } else { name.to_owned() });
            }
            if is_scripts || first.is_some() && !self.is_for_anybody {
                break;
            }
            frame = Some(at.getattr(intern!(py, "f_back"))?).filter(|back| !back.is_none());
        }
        Ok(match first.as_deref() {
            Some("") | None => Some(self.name.clone()),
            Some(_) if !self.is_for_anybody => None,
            Some(name) if is_one_of(IN_NO_RESULT, name) => None,
            Some(name) => Some(format!("{} in {name}{ending}", self.name).into()),
        })
    }

    /// From where what this call returns comes; a file's is no value from outside.
    fn takes(&self, py: Python<'_>, call: Call) -> PyResult<ReadFrom> {
        let flags = self.definition.flags();
        // SAFETY: the call is going on
        let first = unsafe { call.first(flags) };
        // SAFETY: a constant
        let none = unsafe { ffi::Py_None() };
        let is_from_outside = match self.form {
            Form::Seed => first.is_null() || first == none,
            Form::Read => {
                // SAFETY: the call is going on
                let of = if self.name.starts_with("os.") { first } else { call.this() };
                // SAFETY: as above
                let Some(file) = (unsafe { Bound::from_borrowed_ptr_or_opt(py, of) }) else {
                    return Ok(ReadFrom::File);
                };
                return if self.is_of_socket { connections::read_from(&file) } else { Ok(read_from(&file)) };
            }
            _ if self.most == usize::MAX || matches!(call, Call::One(..)) && flags & ffi::METH_NOARGS != 0 => true,
            _ => {
                // SAFETY: the call is going on
                let (args, kwargs) = unsafe { call.arguments(py, flags) }?;
                let named = kwargs.iter().flat_map(|kwargs| kwargs.values());
                args.iter().chain(named).filter(|arg| !arg.is_none()).count() <= self.most
            }
        };
        Ok(if is_from_outside { ReadFrom::Kernel } else { ReadFrom::File })
    }

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
            if gives() {
                with(|inputs| inputs.asked.insert(stream.clone()));
            }
            return Ok(plain());
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
            let kept = swallowed(py, || self.give(py, call, stream))?.flatten();
            if let (From::Connection(descriptor), Some(given)) = (asked.from, &kept) {
                let bytes = given.extract().or_else(|_| given.len())?;
                py.detach(|| connections::heard(descriptor, bytes));
            }
            return match kept {
                Some(value) => Ok(value.into_ptr()),
                None => Ok(plain()),
            };
        }
        if with(|inputs| inputs.is_full) {
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
        let Asked { stream, from } = asked;
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

    fn give<'py>(&self, py: Python<'py>, call: Call, stream: &Arc<str>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let path = place_now();
        let (number, kept) = with(|inputs| inputs.give(py, path, stream));
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
