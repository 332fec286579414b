//! `florc._native.Modules`: which of the modules that exist are the user's.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyList, PyMapping, PyModule, PySet, PyString, PyWeakrefReference};

use crate::locks::lock;

/// The user's modules: those of `sys.modules` whose `__file__` is in `files`.
///
/// A script that imports torch has two thousand modules, and this is asked twice per checkpoint. So the last answer is kept for as
/// long as `sys.modules` holds the same objects at the same places. A module that had a `__file__` which is not the user's is taken
/// to keep it; one that had none is asked again.
#[pyclass(frozen, module = "florc._native")]
#[derive(Debug)]
pub struct Modules {
    files: Py<PySet>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    entries: Vec<Entry>,
    /// Those to be looked at each time: the user's, and those that are in no file yet. Numbers of `entries`.
    asked: Vec<usize>,
    files: usize,
    /// Whether one of the modules is gone: another may have its address.
    is_stale: Arc<AtomicBool>,
    /// They set that.
    _guards: Vec<Py<PyWeakrefReference>>,
}

/// An item of `sys.modules`: where it stands, the addresses of name and module.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
struct Entry(ffi::Py_ssize_t, usize, usize);

type Items<'py> = Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>;
type Found<'py> = Vec<(Bound<'py, PyAny>, Bound<'py, PyDict>)>;

#[pymethods]
impl Modules {
    #[new]
    fn new(files: Py<PySet>) -> Modules {
        Modules { files, known: Mutex::default() }
    }

    /// Name and namespace of each, in the order of `sys.modules`.
    fn find<'py>(&self, py: Python<'py>) -> PyResult<Found<'py>> {
        let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
        let Ok(modules) = modules.cast_exact::<PyDict>() else {
            // a mapping that the script put in its place
            let mut found = Vec::new();
            for item in modules.cast::<PyMapping>()?.items()? {
                let (name, module) = item.extract()?;
                self.put(name, &module, &mut found)?;
            }
            return Ok(found);
        };
        let asked = self.same(modules);
        if let Some(asked) = asked {
            let mut found = Vec::new();
            for (name, module) in asked {
                self.put(name, &module, &mut found)?;
            }
            return Ok(found);
        }
        self.look(modules)
    }
}

impl Modules {
    /// What to look at when nothing of the table changed.
    fn same<'py>(&self, modules: &Bound<'py, PyDict>) -> Option<Items<'py>> {
        let py = modules.py();
        let known = lock(&self.known);
        if known.is_stale.load(Ordering::Relaxed)
            || known.entries.len() != modules.len()
            || known.files != self.files.bind(py).len()
        {
            return None;
        }
        let mut found = Vec::with_capacity(known.asked.len());
        let (mut number, mut asked) = (0, known.asked.iter().copied().peekable());
        let is_same = each_entry(modules, |entry, name, module| {
            let is_same = known.entries.get(number) == Some(&entry);
            if is_same && asked.peek() == Some(&number) {
                asked.next();
                // SAFETY: borrowed from a dict that is held, and nothing else runs in between
                found.push(unsafe { (Bound::from_borrowed_ptr(py, name), Bound::from_borrowed_ptr(py, module)) });
            }
            number += 1;
            is_same
        });
        is_same.then_some(found)
    }

    /// Looks at every module, and keeps what it saw.
    fn look<'py>(&self, modules: &Bound<'py, PyDict>) -> PyResult<Found<'py>> {
        let py = modules.py();
        let (mut entries, mut all) = (Vec::with_capacity(modules.len()), Vec::with_capacity(modules.len()));
        each_entry(modules, |entry, name, module| {
            entries.push(entry);
            // SAFETY: as above
            all.push(unsafe {
                (Bound::<PyAny>::from_borrowed_ptr(py, name), Bound::<PyAny>::from_borrowed_ptr(py, module))
            });
            true
        });
        let is_stale = Arc::new(AtomicBool::new(false));
        let stale = Arc::clone(&is_stale);
        let gone = PyCFunction::new_closure(py, None, None, move |_, _| stale.store(true, Ordering::Relaxed))?;
        let (mut found, mut asked, mut guards) = (Vec::new(), Vec::new(), Vec::with_capacity(all.len()));
        for (number, (name, module)) in all.into_iter().enumerate() {
            if !self.put(name, &module, &mut found)? {
                asked.push(number);
            }
            match PyWeakrefReference::new_with(&module, gone.clone()) {
                Ok(guard) => guards.push(guard.unbind()),
                // what is no module, and cannot be watched, may be gone without a word
                Err(_) => is_stale.store(true, Ordering::Relaxed),
            }
        }
        let files = self.files.bind(py).len();
        let before =
            std::mem::replace(&mut *lock(&self.known), Known { entries, asked, files, is_stale, _guards: guards });
        drop(before);
        Ok(found)
    }

    /// Adds a module that is the user's. Whether it is known to be none, and to stay that.
    fn put<'py>(&self, name: Bound<'py, PyAny>, module: &Bound<'py, PyAny>, found: &mut Found<'py>) -> PyResult<bool> {
        let py = name.py();
        let Ok(module) = module.cast_exact::<PyModule>() else { return Ok(true) };
        let names = module.dict();
        let Some(file) =
            names.get_item(intern!(py, "__file__"))?.filter(|file| file.is_exact_instance_of::<PyString>())
        else {
            return Ok(false);
        };
        let is_users = self.files.bind(py).contains(&file)?;
        if is_users {
            found.push((name, names));
        }
        Ok(!is_users)
    }
}

/// Every item of a dict with its place, borrowed, until `one` says that it is enough; whether it never did.
fn each_entry(
    dict: &Bound<'_, PyDict>,
    mut one: impl FnMut(Entry, *mut ffi::PyObject, *mut ffi::PyObject) -> bool,
) -> bool {
    let mut position = 0;
    let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the dict is held, and `position` is only ever given to this call
    while unsafe { ffi::PyDict_Next(dict.as_ptr(), &mut position, &mut key, &mut value) } != 0 {
        if !one(Entry(position, key as usize, value as usize), key, value) {
            return false;
        }
    }
    true
}

/// Those of the objects whose class is among these, given by their addresses.
#[pyfunction]
pub fn instances_of<'py>(
    objects: &Bound<'py, PyList>,
    classes: std::collections::HashSet<usize>,
) -> PyResult<Bound<'py, PyList>> {
    let found = PyList::empty(objects.py());
    for obj in objects.iter() {
        if classes.contains(&(obj.get_type_ptr() as usize)) {
            found.append(obj)?;
        }
    }
    Ok(found)
}
