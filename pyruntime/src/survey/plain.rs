//! A digest of what names hold, of numbers, texts, and containers and objects of the script's made of them: cheap enough to be taken
//! where an iteration begins, and compared with the record's in a replay. It finds what came from outside unnoticed.
//!
//! What is another in each process, and told where an answer shows it, is not part of it: addresses, times of day within the run, the
//! number of the process. Nor are the order of sets, and objects of libraries but small arrays.
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyNone, PyString, PyTuple, PyType};

use crate::encode::instance_dict;
use crate::witness::outside::{Outside, counted};
use crate::witness::{is_pythons, named};

/// Of one name at most so many values are looked at.
const MOST: usize = 4096;
const DEPTH: usize = 8;
/// Of a longer container, so many of its last items.
const LAST: usize = 512;
/// Of a longer text or bytes object, so many of its last bytes. Longer arrays are not looked at.
const LAST_BYTES: usize = 4096;
/// Stands behind the digest of what holds an object of the script's.
const OF_OBJECT: &str = "*";
/// Bytes of a digest.
const DIGEST: usize = 8;

/// Of each name, a digest of what it holds, followed by `*` where an object of the script's is in it, and for a whole number by what the
/// system may have counted (`counted`); none of what only a library knows. `spans`: between which seconds the time of day was; `processes`: numbers of this process, now and then; `is_scripts`: the modules whose classes are the script's.
#[pyfunction]
pub fn plain_digests(
    names: &Bound<'_, PyDict>,
    spans: Vec<(f64, f64)>,
    processes: Vec<i64>,
    is_scripts: &Bound<'_, PyAny>,
) -> PyResult<Vec<(String, String)>> {
    let (outside, mut found) = (Outside { spans, processes }, Vec::new());
    for (name, value) in names.iter() {
        let Ok(name) = name.extract::<String>() else { continue };
        if name.starts_with("__") || name.starts_with("_florc") {
            continue;
        }
        let mut look = Look { outside: &outside, is_scripts, left: MOST, text: Vec::new(), known: Vec::new() };
        if look.value(&value, DEPTH)? {
            let digest = blake3::hash(&look.text);
            let digest: String = digest.as_bytes()[..DIGEST].iter().map(|byte| format!("{byte:02x}")).collect();
            let number = value.cast_exact::<PyInt>().ok().and_then(|number| number.extract().ok());
            let marks = number.zip(outside.processes.first()).map_or("", |(number, process)| counted(number, *process));
            found.push((name, format!("{digest}{}", if look.known.is_empty() { marks } else { OF_OBJECT })));
        }
    }
    Ok(found)
}

struct Look<'a, 'py> {
    outside: &'a Outside,
    is_scripts: &'a Bound<'py, PyAny>,
    left: usize,
    text: Vec<u8>,
    /// Objects of the script's that were met: one that holds itself ends there.
    known: Vec<*mut pyo3::ffi::PyObject>,
}

impl<'py> Look<'_, 'py> {
    /// Whether it is a value of which anything is known.
    fn value(&mut self, value: &Bound<'py, PyAny>, depth: usize) -> PyResult<bool> {
        if self.left == 0 || depth == 0 {
            return Ok(true);
        }
        self.left -= 1;
        if value.is_instance_of::<PyNone>() || value.is_exact_instance_of::<PyBool>() {
            self.mark(if value.is_none() { b'n' } else { b'b' }, &[u8::from(value.is_truthy()?)]);
        } else if value.is_exact_instance_of::<PyInt>() {
            self.whole(value)?;
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            let number = number.value();
            let is_time = self.outside.is_time(number);
            self.mark(b'f', &if is_time { [0; 8] } else { number.to_bits().to_le_bytes() });
        } else if let Ok(text) = value.cast_exact::<PyString>() {
            match text.to_str() {
                Ok(text) => self.bytes(b's', self.outside.masked(text).as_bytes()),
                Err(_) => self.mark(b's', b"?"),
            }
        } else if let Ok(bytes) = value.cast_exact::<PyBytes>() {
            self.bytes(b'y', bytes.as_bytes());
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            return self.items(b'l', list.len(), |at| list.get_item(at), depth);
        } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            return self.items(b't', tuple.len(), |at| tuple.get_item(at), depth);
        } else if let Ok(dict) = value.cast_exact::<PyDict>() {
            self.mark(b'd', &dict.len().to_le_bytes());
            for (key, item) in dict.iter().skip(dict.len().saturating_sub(LAST)) {
                if !is_pythons(&key) {
                    self.value(&key, depth - 1)?;
                    self.value(&item, depth - 1)?;
                }
            }
        } else {
            return self.object(value, depth);
        }
        Ok(true)
    }

    fn mark(&mut self, kind: u8, bytes: &[u8]) {
        self.text.push(kind);
        self.text.extend_from_slice(&bytes.len().to_le_bytes());
        self.text.extend_from_slice(bytes);
    }

    fn bytes(&mut self, kind: u8, bytes: &[u8]) {
        self.text.extend_from_slice(&bytes.len().to_le_bytes());
        self.mark(kind, &bytes[bytes.len().saturating_sub(LAST_BYTES)..]);
    }

    fn whole(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        match value.extract::<i64>() {
            Ok(number) if self.outside.masks_whole(number) => self.mark(b'i', b"at"),
            Ok(number) => self.mark(b'i', &number.to_le_bytes()),
            Err(_) => {
                let bits: usize = value.call_method0("bit_length")?.extract()?;
                let text: String = if bits < LAST_BYTES { value.str()?.extract()? } else { bits.to_string() };
                self.mark(b'i', text.as_bytes());
            }
        }
        Ok(())
    }

    fn items(
        &mut self,
        kind: u8,
        count: usize,
        item: impl Fn(usize) -> PyResult<Bound<'py, PyAny>>,
        depth: usize,
    ) -> PyResult<bool> {
        self.mark(kind, &count.to_le_bytes());
        for at in count.saturating_sub(LAST)..count {
            self.value(&item(at)?, depth - 1)?;
        }
        Ok(true)
    }

    /// An object of a class of the script's: its attributes, read without running code of the class.
    fn object(&mut self, value: &Bound<'py, PyAny>, depth: usize) -> PyResult<bool> {
        let class = value.get_type();
        let (module, name) = (named(&class, "__module__")?, named(&class, "__name__")?);
        if text_is(&module, "numpy")
            && let Some(bytes) = array_bytes(value, &class)?
        {
            let number = value.extract().ok().filter(|_| value.is_instance_of::<PyFloat>());
            self.mark(b'r', if number.is_some_and(|number| self.outside.is_time(number)) { b"at" } else { &bytes });
            return Ok(true);
        }
        self.mark(b'o', name.cast::<PyString>()?.to_str().unwrap_or("?").as_bytes());
        if self.known.contains(&value.as_ptr()) || !self.is_scripts.contains(&module)? {
            return Ok(false);
        }
        self.known.push(value.as_ptr());
        let Some(names) = instance_dict(value)? else { return Ok(false) };
        for (name, item) in names.iter().take(LAST) {
            self.value(&name, depth - 1)?;
            self.value(&item, depth - 1)?;
        }
        Ok(true)
    }
}

/// What a small array, or a number, of a class of NumPy's own holds: the type of its elements, and these. None for objects, and for dates, which an
/// answer shows.
fn array_bytes(value: &Bound<'_, PyAny>, class: &Bound<'_, PyType>) -> PyResult<Option<Vec<u8>>> {
    let py = value.py();
    let is_called =
        |class: &Bound<'_, PyType>, wanted| named(class, "__name__").is_ok_and(|name| text_is(&name, wanted));
    let above = named(class, "__mro__")?.cast_into::<PyTuple>()?;
    let mut above = above.iter().filter_map(|class| class.cast_into::<PyType>().ok());
    if !is_called(class, "ndarray") && !above.any(|class| is_called(&class, "generic")) {
        return Ok(None);
    }
    let kind = value.getattr(intern!(py, "dtype"))?;
    let letter: String = kind.getattr(intern!(py, "char"))?.extract()?;
    let size: usize = value.getattr(intern!(py, "nbytes"))?.extract()?;
    if size > LAST_BYTES || kind.getattr(intern!(py, "hasobject"))?.is_truthy()? || letter == "M" {
        return Ok(None);
    }
    let held = value.call_method0(intern!(py, "tobytes"))?;
    Ok(Some([letter.as_bytes(), held.cast::<PyBytes>()?.as_bytes()].concat()))
}

fn text_is(text: &Bound<'_, PyAny>, wanted: &str) -> bool {
    text.cast::<PyString>().is_ok_and(|text| text.to_str().is_ok_and(|text| text == wanted))
}
