//! What objects hold: attributes, what functions and classes of the script's hold, elements of sets, and what the collector finds.
use std::collections::HashSet;
use std::ffi::{c_int, c_void};

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};
use twox_hash::XxHash3_64;

use super::classes::{Class, named, text_of};
use super::parts::{each_item, own_dict};
use super::walk::Walk;

/// Elements of sets that are objects are read in sets so deep.
const SET_DEPTH: usize = 3;
/// And values of which values are made.
const VALUE_DEPTH: usize = 16;

impl<'py> Walk<'_, 'py> {
    /// Elements in the order of their digests: that of the set is another in each process.
    pub(super) fn set(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let kind = value.py().import(intern!(value.py(), "builtins"))?.getattr(intern!(value.py(), "list"))?;
        let iterator = frozen_or_not(value)?.getattr(intern!(value.py(), "__iter__"))?.call1((value,))?;
        let elements = kind.call1((iterator,))?;
        let elements = elements.cast::<PyList>()?;
        let mut found = Vec::with_capacity(elements.len());
        for element in elements.iter() {
            let mut walk = Walk::new(self.settings, self.depth + 1);
            if walk.depth <= SET_DEPTH {
                walk.part(&element)?;
                walk.rest(value.py())?;
            }
            found.push(XxHash3_64::oneshot(&walk.out));
        }
        found.sort_unstable();
        self.count(b'{', found.len());
        found.iter().for_each(|hash| self.out.extend_from_slice(&hash.to_le_bytes()));
        Ok(())
    }

    pub(super) fn attributes(
        &mut self,
        value: &Bound<'py, PyAny>,
        class: &Class,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(own) = own_dict(value) else { return Ok(None) };
        let mut items = Vec::with_capacity(own.len());
        each_item(&own, |name, part| items.push((text_of(&name), part)));
        items.retain(|(name, part)| !class.leaves_out(name, part));
        items.sort_by(|one, two| one.0.cmp(&two.0));
        self.count(b'a', items.len());
        for (name, part) in items {
            self.word(b'.', name.as_bytes());
            self.part(&part)?;
        }
        Ok(Some(own))
    }

    /// Attributes, then what the collector finds besides: slots, and what a class of C holds.
    pub(super) fn object(&mut self, value: &Bound<'py, PyAny>, class: &Class) -> PyResult<()> {
        let own = self.attributes(value, class)?;
        let mut named: HashSet<usize> = HashSet::new();
        if let Some(own) = &own {
            named.insert(own.as_ptr() as usize);
            each_item(own, |name, part| {
                named.insert(name.as_ptr() as usize);
                named.insert(part.as_ptr() as usize);
            });
        }
        for part in held_by(value) {
            if !named.contains(&(part.as_ptr() as usize)) && !part.is_instance_of::<PyType>() {
                self.out.push(b'h');
                self.part(&part)?;
            }
        }
        Ok(())
    }

    pub(super) fn reduced(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        const PROTOCOL: u32 = 2;
        if self.depth >= VALUE_DEPTH {
            return Ok(()); // it may be made of itself
        }
        let made = value.call_method1(intern!(value.py(), "__reduce_ex__"), (PROTOCOL,))?;
        self.kept.push(made.clone());
        self.depth += 1;
        let done = self.part(&made);
        self.depth -= 1;
        done
    }

    /// Of a function of the script's, or one that says so: defaults, what it closes over, attributes; not its code, which florc
    /// changes. Of a library's, the name.
    pub(super) fn function(&mut self, value: &Bound<'py, PyAny>, class: &Class) -> PyResult<()> {
        let py = value.py();
        for name in [intern!(py, "__module__"), intern!(py, "__qualname__")] {
            self.word(b'q', text_of(&value.getattr(name)?).as_bytes());
        }
        if !self.is_of_script(value)? {
            return self.wrapped(value);
        }
        for name in [intern!(py, "__defaults__"), intern!(py, "__kwdefaults__")] {
            self.part(&value.getattr(name)?)?;
        }
        if let Ok(cells) = value.getattr(intern!(py, "__closure__"))?.cast::<PyTuple>() {
            let names = value.getattr(intern!(py, "__code__"))?.getattr(intern!(py, "co_freevars"))?;
            for (name, cell) in names.cast::<PyTuple>()?.iter().zip(cells.iter()) {
                if !self.settings.rebound.contains(&text_of(&name)) {
                    self.part(&cell)?;
                }
            }
        }
        self.attributes(value, class)?;
        Ok(())
    }

    /// Whether its code stands in a file of the script's, whatever module it says that it is of.
    pub(super) fn is_of_script(&self, function: &Bound<'py, PyAny>) -> PyResult<bool> {
        let py = function.py();
        let names = function.getattr(intern!(py, "__globals__"))?.cast_into::<PyDict>()?;
        let Some(module) = names.get_item(intern!(py, "__name__"))? else { return Ok(false) };
        Ok(module.is_instance_of::<PyString>() && self.settings.classes.is_scripts.bind(py).contains(&module)?)
    }

    /// Of a library's function, those of the script's that it wraps.
    pub(super) fn wrapped(&mut self, function: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = function.py();
        let Ok(cells) = function.getattr(intern!(py, "__closure__"))?.cast_into::<PyTuple>() else { return Ok(()) };
        for cell in cells.iter() {
            let Ok(held) = cell.getattr(intern!(py, "cell_contents")) else { continue };
            if held.get_type().is(function.get_type()) && self.is_of_script(&held)? {
                self.part(&held)?;
            }
        }
        Ok(())
    }

    /// Of a class of the script's what stands in it; of others the name.
    pub(super) fn class(&mut self, value: &Bound<'py, PyType>) -> PyResult<()> {
        let (module, name) = (named(value, "__module__")?, named(value, "__qualname__")?);
        self.word(b'q', text_of(&module).as_bytes());
        self.word(b'q', text_of(&name).as_bytes());
        if !module.is_instance_of::<PyString>()
            || !self.settings.classes.is_scripts.bind(value.py()).contains(&module)?
        {
            return Ok(());
        }
        let of_type = value.py().get_type::<PyType>().getattr("__dict__")?.get_item("__dict__")?;
        let own = of_type.call_method1("__get__", (value,))?.call_method0("copy")?;
        let mut items = Vec::new();
        each_item(own.cast::<PyDict>()?, |name, part| items.push((text_of(&name), part)));
        items.sort_by(|one, two| one.0.cmp(&two.0));
        for (name, part) in items {
            if !name.starts_with("__") && name != "_abc_impl" {
                self.word(b'.', name.as_bytes());
                self.part(&part)?;
            }
        }
        Ok(())
    }
}

fn frozen_or_not<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let builtins = py.import(intern!(py, "builtins"))?;
    let is_frozen = value.is_instance_of::<pyo3::types::PyFrozenSet>();
    builtins.getattr(if is_frozen { intern!(py, "frozenset") } else { intern!(py, "set") })
}

/// What the collector says that an object holds, in the order of its class.
fn held_by<'py>(value: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    extern "C" fn visit(part: *mut ffi::PyObject, found: *mut c_void) -> c_int {
        // SAFETY: it is the vector that is given to `traverse` below
        unsafe { &mut *found.cast::<Vec<*mut ffi::PyObject>>() }.push(part);
        0
    }
    let mut found: Vec<*mut ffi::PyObject> = Vec::new();
    // SAFETY: the collector asks objects in the same way; nothing of Python's runs, so what they hold stays until it is owned below
    unsafe {
        if ffi::PyType_HasFeature(value.get_type().as_ptr().cast(), ffi::Py_TPFLAGS_HAVE_GC) == 0 {
            return Vec::new();
        }
        let slot = ffi::PyType_GetSlot(value.get_type().as_ptr().cast(), ffi::Py_tp_traverse);
        if slot.is_null() {
            return Vec::new();
        }
        let traverse = std::mem::transmute::<*mut c_void, ffi::traverseproc>(slot);
        traverse(value.as_ptr(), visit, (&raw mut found).cast());
    }
    // SAFETY: the object holds them
    found
        .into_iter()
        .filter(|part| !part.is_null())
        .map(|part| unsafe { Bound::from_borrowed_ptr(value.py(), part) })
        .collect()
}
