//! Numbers, texts and other values that do not change: written where they are held.
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyComplexMethods, PyFloat, PyInt, PyModule, PyNone, PyString, PyTuple};

use super::classes::{Class, Way, text_of};
use super::walk::Walk;

impl<'py> Walk<'_, 'py> {
    pub(super) fn atom(&mut self, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        if value.is_instance_of::<PyNone>() {
            self.out.push(b'n');
        } else if value.is_exact_instance_of::<PyBool>() {
            self.out.push(if value.is_truthy()? { b'T' } else { b'F' });
        } else if value.is_exact_instance_of::<PyInt>() {
            self.whole(value)?;
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            self.float(number.value());
        } else if let Ok(text) = value.cast_exact::<PyString>() {
            self.text(text);
        } else if let Ok(bytes) = value.cast_exact::<PyBytes>() {
            self.word(b'y', bytes.as_bytes());
        } else if let Ok(number) = value.cast_exact::<PyComplex>() {
            let (real, imaginary) = (number.real().to_bits(), number.imag().to_bits());
            self.word(b'c', &[real.to_le_bytes(), imaginary.to_le_bytes()].concat());
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    pub(super) fn whole(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        match value.extract::<i64>() {
            Ok(number) if self.settings.outside.masks_whole(number) => self.out.push(b'@'),
            Ok(number) => self.word(b'i', &number.to_le_bytes()),
            Err(_) => {
                let text = value.call_method1(intern!(value.py(), "__format__"), ("x",))?;
                self.word(b'j', text_of(&text).as_bytes());
            }
        }
        Ok(())
    }

    pub(super) fn float(&mut self, number: f64) {
        if self.settings.outside.is_time(number) {
            self.out.push(b'@');
        } else {
            self.word(b'f', &number.to_bits().to_le_bytes());
        }
    }

    pub(super) fn text(&mut self, text: &Bound<'py, PyString>) {
        match text.to_str() {
            Ok(text) => self.word(b's', self.settings.outside.masked(text).as_bytes()),
            Err(_) => self.word(b's', b"?"),
        }
    }

    pub(super) fn value(&mut self, tuple: &Bound<'py, PyTuple>) -> PyResult<()> {
        self.count(b't', tuple.len());
        for item in tuple.iter() {
            match item.cast_exact::<PyTuple>() {
                Ok(tuple) => self.value(tuple)?,
                Err(_) => {
                    self.atom(&item)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn scalar(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let bytes = value.call_method0(intern!(value.py(), "tobytes"))?;
        self.word(b'y', bytes.cast::<PyBytes>()?.as_bytes());
        Ok(())
    }

    pub(super) fn leaf(&mut self, value: &Bound<'py, PyAny>, class: &Class) -> PyResult<()> {
        self.word(b'L', class.name.as_bytes());
        if let Ok(module) = value.cast::<PyModule>() {
            let name = module.dict().get_item(intern!(value.py(), "__name__"))?;
            self.word(b'm', name.map(|name| text_of(&name)).unwrap_or_default().as_bytes());
        } else if matches!(class.way, Way::Text) {
            let text = value.str()?;
            self.text(&text);
        }
        Ok(())
    }
}
