//! Who asks a source for a value, and from where that comes.
use std::sync::Arc;

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;

use super::callers::{HANDS_ON, IN_NO_RESULT, THEIRS, WAITS, frames, is_one_of, is_ours, name_of, scripts_frame};
use super::clocks::{Clock, is_let_go};
use super::connections;
use super::definitions::{Call, Definition};
use super::elsewhere;
use super::observed::gives;
use super::special::{ReadFrom, read_from};
use super::values::AS_IMPORTED;

/// What runs a module as it is imported: its name before and after somebody imports `importlib`.
const IMPORTS: [&str; 2] = ["_frozen_importlib", "importlib._bootstrap"];

/// A function whose values come from outside.
pub(super) struct Source {
    pub(super) definition: &'static Definition,
    pub(super) name: Arc<str>,
    pub(super) form: Form,
    /// With more arguments than this that are not None, its value is computed from them.
    pub(super) most: usize,
    pub(super) is_for_anybody: bool,
    pub(super) is_of_socket: bool,
    /// What shows how much time has passed.
    pub(super) clock: Option<Clock>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
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
pub(super) struct Asked {
    pub stream: Arc<str>,
    pub from: From,
    pub is_librarys: bool,
}

/// Who says it. A replay hears a program and another machine, too, and hands on what is kept.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum From {
    Kernel,
    Program(i32),
    Connection(i32),
}

impl Source {
    /// In whose name the value is kept; None where it is not kept.
    pub(super) fn asker(&self, py: Python<'_>, call: Call) -> PyResult<Option<Asked>> {
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
            ReadFrom::Others => {
                if of_script || self.of_library(py)?.is_some_and(|stream| stream == self.name) {
                    elsewhere::took();
                }
                return Ok(None);
            }
            ReadFrom::Program(stream, descriptor) => (Some(stream), From::Program(descriptor)),
            ReadFrom::Connection(stream, descriptor) => (Some(stream), From::Connection(descriptor)),
            ReadFrom::Kernel if of_script => (Some(self.name.clone()), From::Kernel),
            ReadFrom::Kernel => (self.of_library(py)?, From::Kernel),
        };
        Ok(stream.map(|stream| Asked { stream, from, is_librarys: !of_script }))
    }

    /// The same for what no file of the script's calls itself.
    fn of_library(&self, py: Python<'_>) -> PyResult<Option<Arc<str>>> {
        let (mut first, mut ending, mut between) = (None, "", 0);
        for found in frames(py) {
            let (at, name) = found?;
            between += 1;
            if is_ours(&at.getattr(intern!(py, "f_builtins"))?) && !is_one_of(HANDS_ON, &name) {
                return Ok(None);
            }
            let is_scripts = is_one_of(THEIRS, &name);
            if IMPORTS.contains(&&*name) {
                ending = AS_IMPORTED;
            }
            if first.is_none() && !is_one_of(HANDS_ON, &name) {
                first = Some(if is_scripts { String::new() } else { name });
            }
            if is_scripts || first.is_some() && !self.is_for_anybody {
                break;
            }
        }
        Ok(match first.as_deref() {
            Some("") | None => Some(self.name.clone()),
            Some(_) if !self.is_for_anybody => None,
            Some(name) if is_one_of(if self.is_of_time() { WAITS } else { IN_NO_RESULT }, name) => {
                // the script asks it for the time itself: `loop.time()`
                if gives() && self.is_of_time() && between == 2 && is_kept_by_script(py)? {
                    elsewhere::took();
                }
                None
            }
            Some(name) => Some(format!("{} in {name}{ending}", self.name).into()),
        })
    }

    /// What another thread, or a process that was forked, asks for is neither kept nor given back, but counted. What a clock shows to
    /// a library there, which may compare that with what was given back.
    pub(super) fn elsewhere<'py>(&self, py: Python<'py>, call: Call) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(asked) = self.asker(py, call)? else { return Ok(None) };
        if !asked.is_librarys || is_kept_by_script(py)? {
            elsewhere::took();
        }
        self.clock.as_ref().filter(|_| asked.is_librarys).map_or(Ok(None), |clock| clock.goes_on(py))
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
}

/// Whether the script calls what runs, at any distance, and does something with what that returns.
fn is_kept_by_script(py: Python<'_>) -> PyResult<bool> {
    scripts_frame(py)?.map_or(Ok(false), |frame| Ok(!is_let_go(&frame)?))
}
