//! The names of a function's frame and what they hold, read so that the program does not notice.
//!
//! Before Python 3.13, `frame.f_locals` of a function is one dict per frame. To read it brings it up to date, and who called
//! `locals()` in the function earlier holds that very dict: it must be what it was then. Where the frame keeps it is not part of
//! the stable ABI; these versions get no other layout any more.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ptr;

/// `CO_OPTIMIZED`: code of a function, whose names are not in a dict.
const OPTIMIZED: u32 = 1;
/// References to the dict where only the frame holds it: that one, and the one here.
const OF_FRAME: isize = 2;

/// Where a frame keeps what, in bytes.
struct Layout {
    version: (u8, u8),
    /// The address of its own memory, where that lies elsewhere: the others are places in that.
    own: Option<usize>,
    globals: usize,
    names: usize,
}

const LAYOUTS: [Layout; 3] = [
    Layout { version: (3, 10), own: None, globals: 48, names: 56 },
    Layout { version: (3, 11), own: Some(24), globals: 8, names: 24 },
    Layout { version: (3, 12), own: Some(24), globals: 24, names: 40 },
];

/// A new dict of the names of a function's frame, but for those that are unbound; of a module's or a class's frame, the dict that
/// holds them.
#[pyfunction]
pub fn names_of<'py>(frame: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = frame.py();
    let flags: u32 = frame.getattr(intern!(py, "f_code"))?.getattr(intern!(py, "co_flags"))?.extract()?;
    if flags & OPTIMIZED == 0 {
        return frame.getattr(intern!(py, "f_locals"));
    }
    let version = py.version_info();
    if (version.major, version.minor) >= (3, 13) {
        let found = PyDict::new(py);
        found.update(frame.getattr(intern!(py, "f_locals"))?.cast()?)?;
        return Ok(found.into_any());
    }
    let layout = LAYOUTS.iter().find(|layout| layout.version == (version.major, version.minor));
    let kept = layout.map(|layout| kept(frame, layout)).transpose()?.flatten();
    let before = kept.filter(|kept| !is_of_frame(kept)).map(|kept| kept.copy()).transpose()?;
    let names = frame.getattr(intern!(py, "f_locals"))?.cast_into::<PyDict>()?;
    let found = names.copy()?;
    if let Some(before) = before {
        names.clear();
        names.update(before.as_mapping())?;
    } else if is_of_frame(&names) {
        names.clear(); // it would hold all objects that it lists
    }
    Ok(found.into_any())
}

/// Whether only the frame holds its dict.
fn is_of_frame(names: &Bound<'_, PyDict>) -> bool {
    // SAFETY: `names` is an object, and the GIL is held.
    let holders = unsafe { pyo3::ffi::Py_REFCNT(names.as_ptr()) };
    holders <= OF_FRAME
}

/// The dict that a frame keeps, as it is; None where there is none yet, or the frame lies in memory in another way.
fn kept<'py>(frame: &Bound<'py, PyAny>, layout: &Layout) -> PyResult<Option<Bound<'py, PyDict>>> {
    if size_of::<usize>() != 8 {
        return Ok(None);
    }
    let globals = frame.getattr(intern!(frame.py(), "f_globals"))?;
    let start = frame.as_ptr().cast::<*mut pyo3::ffi::PyObject>().cast_const();
    // SAFETY: a frame of this version begins with these words, and its own memory with those; that the globals are where they
    // must be is seen before the other word is taken for an object. The GIL is held.
    let found = unsafe {
        let start = match layout.own {
            Some(own) => ptr::read(start.byte_add(own)).cast::<*mut pyo3::ffi::PyObject>().cast_const(),
            None => start,
        };
        if start.is_null() || ptr::read(start.byte_add(layout.globals)) != globals.as_ptr() {
            return Ok(None);
        }
        Bound::from_borrowed_ptr_or_opt(frame.py(), ptr::read(start.byte_add(layout.names)))
    };
    Ok(found.and_then(|found| found.cast_into_exact::<PyDict>().ok()))
}
