//! Hears what Python announces (`sys.audit`), natively: a hook written in Python is called for every `id()` of the script and
//! makes it 20 times as dear; this one compares a name.
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::guard::panics::harmless;
use crate::locks::lock;

type Hook = unsafe extern "C" fn(*const c_char, *mut pyo3::ffi::PyObject, *mut c_void) -> c_int;
type AddHook = unsafe extern "C" fn(Hook, *mut c_void) -> c_int;

/// Python keeps a hook to its very end, so the listener is static, and deaf before and after the run.
struct Listener {
    events: Vec<CString>,
    hear: Mutex<Option<Py<PyAny>>>,
}

static LISTENER: OnceLock<Listener> = OnceLock::new();
static LISTENS: AtomicBool = AtomicBool::new(false);

/// Calls `hear(event, args)` when Python announces one of the events, before what is announced happens. An exception that it
/// raises is raised where the event was announced. Once in a process.
///
/// # Errors
/// Where there is a listener already, and where Python refuses the hook.
#[pyfunction]
pub fn listen(py: Python<'_>, events: Vec<CString>, hear: Py<PyAny>) -> PyResult<()> {
    if LISTENER.set(Listener { events, hear: Mutex::new(Some(hear)) }).is_err() {
        return Err(PyRuntimeError::new_err("a process listens once"));
    }
    // SAFETY: a symbol of the process is looked up; Python 3.8 and later have this one, with this signature
    let add = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"PySys_AddAuditHook".as_ptr()) };
    if add.is_null() {
        return Err(PyRuntimeError::new_err("this Python has no PySys_AddAuditHook"));
    }
    // SAFETY: as above
    let add: AddHook = unsafe { std::mem::transmute(add) };
    // SAFETY: the GIL is held; the hook stays valid, this library is never unloaded
    if unsafe { add(heard, std::ptr::null_mut()) } != 0 {
        return Err(PyErr::fetch(py));
    }
    LISTENS.store(true, Ordering::Release);
    Ok(())
}

/// Listens no more.
#[pyfunction]
pub fn listen_no_more() {
    LISTENS.store(false, Ordering::Release);
    if let Some(listener) = LISTENER.get() {
        drop(lock(&listener.hear).take());
    }
}

/// # Safety
/// Python calls it, with the name of the event, a tuple, and the GIL held.
unsafe extern "C" fn heard(event: *const c_char, args: *mut pyo3::ffi::PyObject, _: *mut c_void) -> c_int {
    if !LISTENS.load(Ordering::Acquire) {
        return 0;
    }
    // SAFETY: a name that Python holds for the time of this call
    let event = unsafe { CStr::from_ptr(event) };
    let Some(listener) = LISTENER.get() else { return 0 };
    if args.is_null() || !listener.events.iter().any(|known| known.as_c_str() == event) {
        return 0;
    }
    Python::attach(|py| {
        // SAFETY: a tuple that Python holds for the time of this call
        let args = unsafe { Bound::from_borrowed_ptr(py, args) };
        let told = harmless(
            py,
            "hearing of a file",
            || (),
            || {
                let Some(hear) = lock(&listener.hear).as_ref().map(|hear| hear.clone_ref(py)) else { return Ok(()) };
                hear.call1(py, (event.to_string_lossy(), args)).map(|_| ())
            },
        );
        match told {
            Ok(()) => 0,
            Err(error) => {
                error.restore(py);
                -1
            }
        }
    })
}
