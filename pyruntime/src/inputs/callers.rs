//! Who asks for a value from outside: the script, a library, a module that only hands on, or florc itself.
use std::collections::HashSet;
use std::sync::Mutex;

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::locks::lock;

/// Names of modules of the script's, of modules that only hand on what they are asked for, of modules whose entropy is in nobody's
/// result, and of those that wait by a clock.
static MODULES: Mutex<Option<[HashSet<String>; 4]>> = Mutex::new(None);
/// The builtins of florc's own modules.
static OWN: Mutex<Option<Py<PyAny>>> = Mutex::new(None);

pub(super) const THEIRS: usize = 0;
pub(super) const HANDS_ON: usize = 1;
pub(super) const IN_NO_RESULT: usize = 2;
pub(super) const WAITS: usize = 3;

/// Who is who. `modules`: those that hand on, those whose entropy is in no result, those that wait; `own`: the builtins of florc's own
/// modules.
pub(super) fn begin([hands_on, in_no_result, waits]: [HashSet<String>; 3], own: Py<PyAny>) {
    let theirs = HashSet::from(["__main__".to_owned(), "__mp_main__".to_owned()]);
    *lock(&MODULES) = Some([theirs, hands_on, in_no_result, waits]);
    lock(&OWN).get_or_insert(own);
}

pub(super) fn is_one_of(which: usize, name: &str) -> bool {
    let with = |known: &HashSet<String>| {
        known.contains(name) || which != THEIRS && name.match_indices('.').any(|(at, _)| known.contains(&name[..at]))
    };
    lock(&MODULES).as_ref().is_some_and(|known| with(&known[which]))
}

/// A module of the script's.
#[pyfunction]
pub fn is_the_scripts(module: String) {
    if let Some(known) = lock(&MODULES).as_mut() {
        known[THEIRS].insert(module);
    }
}

/// The modules of the script's.
#[pyfunction]
pub fn scripts_modules() -> HashSet<String> {
    lock(&MODULES).as_ref().map(|known| known[THEIRS].clone()).unwrap_or_default()
}

/// The frames of Python in this thread, from the innermost one on, each with the name of its module; a namespace without one is the
/// script's.
pub(super) fn frames(py: Python<'_>) -> impl Iterator<Item = PyResult<(Bound<'_, PyAny>, String)>> {
    // SAFETY: borrowed; null where no code of Python runs
    let mut next = Ok(unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) });
    std::iter::from_fn(move || {
        let frame = std::mem::replace(&mut next, Ok(None)).transpose()?;
        Some(frame.and_then(|at| {
            next = at.getattr(intern!(py, "f_back")).map(|back| Some(back).filter(|back| !back.is_none()));
            let name = name_of(&at.getattr(intern!(py, "f_globals"))?)?;
            Ok((at, name.unwrap_or_else(|| "__main__".to_owned())))
        }))
    })
}

/// Whether it is the script that calls, through these modules.
pub(super) fn is_asked_by_script(py: Python<'_>, through: &[&str]) -> PyResult<bool> {
    for found in frames(py) {
        let (at, name) = found?;
        let is_between = through.contains(&&*name) || through.contains(&name.split('.').next().unwrap_or(&name));
        if is_one_of(THEIRS, &name) || !is_between {
            return Ok(is_one_of(THEIRS, &name) && !is_ours(&at.getattr(intern!(py, "f_builtins"))?));
        }
    }
    Ok(false)
}

/// The innermost frame of the script's in this thread.
pub(super) fn scripts_frame(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    let found = frames(py).find(|found| found.as_ref().map_or(true, |(_, name)| is_one_of(THEIRS, name)));
    Ok(found.transpose()?.map(|(at, _)| at))
}

/// Whether these are the builtins of florc's own modules.
pub(super) fn is_ours(builtins: &Bound<'_, PyAny>) -> bool {
    lock(&OWN).as_ref().is_some_and(|own| own.as_ptr() == builtins.as_ptr())
}

pub(super) fn name_of(globals: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let name = globals.cast::<PyDict>()?.get_item(intern!(globals.py(), "__name__"))?;
    name.map(|name| name.cast::<PyString>()?.extract()).transpose()
}
