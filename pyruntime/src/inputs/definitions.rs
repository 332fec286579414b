//! Functions and methods of C, and what stands in for their code: the object that everybody has (its name, its identity, how it is
//! pickled) stays, and only the definition that it points to is another. Whoever calls it, and however the call is written, comes
//! through here: an alias, `map`, a library.
//!
//! A `PyCFunctionObject` points to its definition (`m_ml`), a method descriptor of a class, too (`d_method`). Neither is part of the
//! limited API; both are the same from CPython 3.10 to 3.14, and looked at before anything is changed: what is read must be what
//! the limited API says of the same object.
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

#[repr(C)]
struct Function {
    head: PyObject,
    definition: *mut Definition,
    this: *mut PyObject,
}

#[repr(C)]
struct Descriptor {
    head: PyObject,
    owner: *mut PyObject,
    name: *mut PyObject,
    qualified: *mut PyObject,
    definition: *mut Definition,
}

/// Such a function gets its class, too.
const METH_METHOD: c_int = 0x200;

/// `PyMethodDef`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Definition {
    name: *const c_char,
    code: *const (),
    flags: c_int,
    doc: *const c_char,
}

type One = unsafe extern "C" fn(*mut PyObject, *mut PyObject) -> *mut PyObject;
type Named = unsafe extern "C" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;
type Fast = unsafe extern "C" fn(*mut PyObject, *const *mut PyObject, isize) -> *mut PyObject;
type FastNamed = unsafe extern "C" fn(*mut PyObject, *const *mut PyObject, isize, *mut PyObject) -> *mut PyObject;
type OfClass =
    unsafe extern "C" fn(*mut PyObject, *mut PyObject, *const *mut PyObject, usize, *mut PyObject) -> *mut PyObject;

/// A call as the code of a function gets it; which of them is up to the flags of its definition.
#[derive(Clone, Copy)]
pub enum Call {
    One(*mut PyObject, *mut PyObject),
    Named(*mut PyObject, *mut PyObject, *mut PyObject),
    Fast(*mut PyObject, *const *mut PyObject, isize),
    FastNamed(*mut PyObject, *const *mut PyObject, isize, *mut PyObject),
    OfClass(*mut PyObject, *mut PyObject, *const *mut PyObject, usize, *mut PyObject),
}

impl Call {
    /// What is called with `definition`'s own code.
    ///
    /// # Safety
    /// The call came to the stand-in of this definition.
    pub unsafe fn of(self, definition: &Definition) -> *mut PyObject {
        use std::mem::transmute;
        // SAFETY: the flags of the definition say that its code has this signature; the stand-in was chosen by them
        unsafe {
            match self {
                Call::One(this, arg) => transmute::<*const (), One>(definition.code)(this, arg),
                Call::Named(this, args, names) => transmute::<*const (), Named>(definition.code)(this, args, names),
                Call::Fast(this, args, count) => transmute::<*const (), Fast>(definition.code)(this, args, count),
                Call::FastNamed(this, args, count, names) => {
                    transmute::<*const (), FastNamed>(definition.code)(this, args, count, names)
                }
                Call::OfClass(this, class, args, count, names) => {
                    transmute::<*const (), OfClass>(definition.code)(this, class, args, count, names)
                }
            }
        }
    }

    pub fn this(self) -> *mut PyObject {
        match self {
            Call::One(this, _)
            | Call::Named(this, ..)
            | Call::Fast(this, ..)
            | Call::FastNamed(this, ..)
            | Call::OfClass(this, ..) => this,
        }
    }

    /// The first argument, if it comes without a name.
    ///
    /// # Safety
    /// The call is going on.
    pub unsafe fn first(self, flags: c_int) -> *mut PyObject {
        // SAFETY: the arguments live as long as the call
        unsafe {
            match self {
                Call::One(_, arg) if flags & ffi::METH_O != 0 => arg,
                Call::One(_, tuple) | Call::Named(_, tuple, _) if flags & ffi::METH_VARARGS != 0 => {
                    if ffi::PyTuple_Size(tuple) > 0 { ffi::PyTuple_GetItem(tuple, 0) } else { std::ptr::null_mut() }
                }
                Call::Fast(_, args, 1..) | Call::FastNamed(_, args, 1.., _) | Call::OfClass(_, _, args, 1.., _) => {
                    *args
                }
                _ => std::ptr::null_mut(),
            }
        }
    }

    /// The arguments, as Python code would get them.
    ///
    /// # Errors
    /// Where memory is short.
    ///
    /// # Safety
    /// The call is going on.
    pub unsafe fn arguments<'py>(
        self,
        py: Python<'py>,
        flags: c_int,
    ) -> PyResult<(Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>)> {
        // SAFETY: the arguments live as long as the call; what they are is up to the flags
        unsafe {
            let borrowed = |at: *mut PyObject| Bound::from_borrowed_ptr(py, at);
            let (args, count, names) = match self {
                Call::One(_, arg) if flags & ffi::METH_O != 0 => return Ok((PyTuple::new(py, [borrowed(arg)])?, None)),
                Call::One(_, tuple) if flags & ffi::METH_VARARGS != 0 => {
                    return Ok((borrowed(tuple).cast_into_unchecked(), None));
                }
                Call::One(..) => return Ok((PyTuple::empty(py), None)),
                Call::Named(_, tuple, names) => {
                    let names = Bound::from_borrowed_ptr_or_opt(py, names).map(|names| names.cast_into_unchecked());
                    return Ok((borrowed(tuple).cast_into_unchecked(), names));
                }
                Call::Fast(_, args, count) => (args, count.cast_unsigned(), std::ptr::null_mut()),
                Call::FastNamed(_, args, count, names) => (args, count.cast_unsigned(), names),
                Call::OfClass(_, _, args, count, names) => (args, count, names),
            };
            let made = PyTuple::new(py, (0..count).map(|at| borrowed(*args.add(at))).collect::<Vec<_>>())?;
            let Some(names) = Bound::from_borrowed_ptr_or_opt(py, names) else { return Ok((made, None)) };
            let kwargs = PyDict::new(py);
            for (at, name) in names.cast_into_unchecked::<PyTuple>().iter().enumerate() {
                kwargs.set_item(name, borrowed(*args.add(count + at)))?;
            }
            Ok((made, Some(kwargs)))
        }
    }
}

/// How many functions may have a stand-in: each has code of its own, since that code is not told for which function it was called.
const MOST: usize = 64;
static STAND_INS: [AtomicPtr<Box<dyn StandIn>>; MOST] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// What is called in the place of a function.
pub trait StandIn: Send + Sync {
    /// A new reference; null, where an error is set.
    fn call(&self, call: Call) -> *mut PyObject;
}

fn called<const N: usize>(call: Call) -> *mut PyObject {
    // SAFETY: it is put there, for good, before any definition points to the code of its number
    unsafe { &*STAND_INS[N].load(Ordering::Acquire) }.call(call)
}

unsafe extern "C" fn one<const N: usize>(this: *mut PyObject, arg: *mut PyObject) -> *mut PyObject {
    called::<N>(Call::One(this, arg))
}

unsafe extern "C" fn named<const N: usize>(
    this: *mut PyObject,
    args: *mut PyObject,
    names: *mut PyObject,
) -> *mut PyObject {
    called::<N>(Call::Named(this, args, names))
}

unsafe extern "C" fn fast<const N: usize>(
    this: *mut PyObject,
    args: *const *mut PyObject,
    count: isize,
) -> *mut PyObject {
    called::<N>(Call::Fast(this, args, count))
}

unsafe extern "C" fn fast_named<const N: usize>(
    this: *mut PyObject,
    args: *const *mut PyObject,
    count: isize,
    names: *mut PyObject,
) -> *mut PyObject {
    called::<N>(Call::FastNamed(this, args, count, names))
}

unsafe extern "C" fn of_class<const N: usize>(
    this: *mut PyObject,
    class: *mut PyObject,
    args: *const *mut PyObject,
    count: usize,
    names: *mut PyObject,
) -> *mut PyObject {
    called::<N>(Call::OfClass(this, class, args, count, names))
}

/// The code of one number, for each signature.
struct Code {
    one: One,
    named: Named,
    fast: Fast,
    fast_named: FastNamed,
    of_class: OfClass,
}

macro_rules! codes {
    ($($n:literal)*) => {
        [$(Code { one: one::<$n>, named: named::<$n>, fast: fast::<$n>, fast_named: fast_named::<$n>, of_class: of_class::<$n> }),*]
    };
}
static CODES: [Code; MOST] = codes!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45
    46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
);

impl Code {
    /// That for the flags of a definition.
    fn with(&self, flags: c_int) -> Option<*const ()> {
        const KINDS: c_int =
            ffi::METH_VARARGS | ffi::METH_KEYWORDS | ffi::METH_NOARGS | ffi::METH_O | ffi::METH_FASTCALL | METH_METHOD;
        const FAST_NAMED: c_int = ffi::METH_FASTCALL | ffi::METH_KEYWORDS;
        const NAMED: c_int = ffi::METH_VARARGS | ffi::METH_KEYWORDS;
        const OF_CLASS: c_int = FAST_NAMED | METH_METHOD;
        Some(match flags & KINDS {
            ffi::METH_VARARGS | ffi::METH_NOARGS | ffi::METH_O => self.one as *const (),
            NAMED => self.named as *const (),
            ffi::METH_FASTCALL => self.fast as *const (),
            FAST_NAMED => self.fast_named as *const (),
            OF_CLASS => self.of_class as *const (),
            _ => return None,
        })
    }
}

// SAFETY: it points to constants of the program and to code, and is never changed
unsafe impl Sync for Definition {}

impl Definition {
    pub fn flags(&self) -> c_int {
        self.flags
    }

    /// # Safety
    /// Its name is null or ends with a zero.
    unsafe fn is_of(&self, name: &str) -> bool {
        // SAFETY: as the caller says
        !self.name.is_null() && unsafe { CStr::from_ptr(self.name) }.to_bytes() == name.as_bytes()
    }
}

/// Where the object points to its definition; None where it is not the object of C that is expected, or does not look like it.
fn pointer(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<*mut *mut Definition>> {
    let at = object.as_ptr();
    let size: usize = object.get_type().getattr("__basicsize__")?.extract()?;
    // SAFETY: an object has as many bytes as its type says, and both layouts are within; a pointer that CPython put there is followed
    // only after another field was found to be what the limited API says
    unsafe {
        if ffi::PyCFunction_CheckExact(at) != 0 {
            let function = at.cast::<Function>();
            if size < size_of::<Function>() || (*function).this != ffi::PyCFunction_GetSelf(at) {
                return Ok(None);
            }
            let definition = &*(*function).definition;
            let is_same = ffi::PyCFunction_GetFunction(at).is_some_and(|code| code as *const () == definition.code)
                && ffi::PyCFunction_GetFlags(at) == definition.flags
                && definition.is_of(name);
            return Ok(is_same.then_some(&raw mut (*function).definition));
        }
        let kind = object.get_type().name()?;
        if kind != "method_descriptor" && kind != "classmethod_descriptor" || size < size_of::<Descriptor>() {
            return Ok(None);
        }
        let descriptor = at.cast::<Descriptor>();
        let owner = object.getattr("__objclass__")?;
        let named = object.getattr("__name__")?.cast_into::<PyString>()?;
        if (*descriptor).owner != owner.as_ptr() || named.to_str()? != name || (*descriptor).name != named.as_ptr() {
            return Ok(None);
        }
        Ok((*(*descriptor).definition).is_of(name).then_some(&raw mut (*descriptor).definition))
    }
}

/// The object that a module has under a name; of a class (`datetime.now`), as it stands in the class itself.
fn found<'py>(module: &Bound<'py, PyModule>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some((owner, last)) = name.split_once('.') else { return module.dict().get_item(name) };
    let Some(owner) = module.dict().get_item(owner)? else { return Ok(None) };
    let Ok(owner) = owner.cast_into::<PyType>() else { return Ok(None) };
    let names = owner.getattr("__dict__")?;
    Ok(names.get_item(last).ok())
}

/// Puts code of ours in the place of what `name` of a module does. `make(definition)`: what is called then. Whether that
/// could be done.
///
/// # Errors
/// When Python fails.
pub fn stand_in(
    module: &Bound<'_, PyModule>,
    name: &str,
    make: impl FnOnce(&'static Definition) -> Box<dyn StandIn>,
) -> PyResult<bool> {
    let Some(object) = found(module, name)? else { return Ok(false) };
    let last = name.rsplit('.').next().unwrap_or(name);
    let Some(place) = pointer(&object, last)? else { return Ok(false) };
    // SAFETY: `pointer` looked at what is there
    let own: &'static Definition = unsafe { &**place };
    let number = COUNT.load(Ordering::Relaxed);
    let Some(code) = CODES.get(number).and_then(|code| code.with(own.flags)) else { return Ok(false) };
    STAND_INS[number].store(Box::into_raw(Box::new(make(own))), Ordering::Release);
    COUNT.store(number + 1, Ordering::Relaxed);
    let made = Box::into_raw(Box::new(Definition { code, ..*own }));
    // SAFETY: the field of a live object, written while the interpreter's lock is held; what it points to is never freed
    unsafe { *place = made };
    Ok(true)
}
