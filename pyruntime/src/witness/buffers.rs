//! Arrays and tensors: what they are, and the memory that they show.
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::memory::{self, Layout, Place, gather};
use super::walk::Walk;
use super::written;

impl<'py> Walk<'_, 'py> {
    pub(super) fn array(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = value.py();
        let kind = py.import(intern!(py, "numpy"))?.getattr(intern!(py, "ndarray"))?;
        let plain = if value.get_type().is(&kind) {
            value.clone()
        } else {
            kind.getattr(intern!(py, "view"))?.call1((value, &kind))? // without the methods of its class
        };
        self.kept.push(plain.clone());
        let dtype = plain.getattr(intern!(py, "dtype"))?;
        self.text(&dtype.str()?);
        let shape: Vec<usize> = plain.getattr(intern!(py, "shape"))?.extract()?;
        self.word(b'x', format!("{shape:?}").as_bytes());
        if dtype.getattr(intern!(py, "hasobject"))?.is_truthy()? {
            let items = plain.call_method0(intern!(py, "ravel"))?.call_method0(intern!(py, "tolist"))?;
            self.kept.push(items.clone());
            for item in items.cast::<PyList>()?.iter() {
                self.part(&item)?;
            }
            return Ok(());
        }
        let strides: Vec<isize> = plain.getattr(intern!(py, "strides"))?.extract()?;
        let item: usize = dtype.getattr(intern!(py, "itemsize"))?.extract()?;
        let interface = plain.getattr(intern!(py, "__array_interface__"))?;
        let address: usize = interface.get_item(intern!(py, "data"))?.get_item(0)?.extract()?;
        self.elements(address, &shape, &strides, item);
        Ok(())
    }

    pub(super) fn tensor(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = value.py();
        let asked = |name: &Bound<'py, PyString>| value.getattr(name);
        self.text(&asked(intern!(py, "dtype"))?.str()?);
        let shape: Vec<usize> = asked(intern!(py, "shape"))?.extract()?;
        self.word(b'x', format!("{shape:?}").as_bytes());
        let (requires, is_leaf) =
            (asked(intern!(py, "requires_grad"))?.is_truthy()?, asked(intern!(py, "is_leaf"))?.is_truthy()?);
        self.out.push(u8::from(requires));
        if self.settings.gradients && requires && is_leaf {
            self.part(&asked(intern!(py, "grad"))?)?;
        }
        if !asked(intern!(py, "is_cpu"))?.is_truthy()? {
            self.text(&asked(intern!(py, "device"))?.str()?);
            return Ok(());
        }
        // sparse tensors, and others without memory of their own, raise
        let Ok(address) = value.call_method0(intern!(py, "data_ptr")) else {
            self.word(b'?', b"no memory");
            return Ok(());
        };
        let item: usize = value.call_method0(intern!(py, "element_size"))?.extract()?;
        let strides: Vec<isize> = value.call_method0(intern!(py, "stride"))?.extract()?;
        let strides: Vec<isize> = strides.iter().map(|step| step * item as isize).collect();
        self.elements(address.extract()?, &shape, &strides, item);
        Ok(())
    }

    pub(super) fn elements(&mut self, address: usize, shape: &[usize], strides: &[isize], item: usize) {
        let layout = Layout::of(shape, strides, item);
        if layout.count == 0 || address == 0 {
            return self.out.push(b'0');
        }
        let Some(span) = layout.dense else {
            let mut bytes = Vec::with_capacity(layout.count * item);
            // SAFETY: the array is held, and so is the GIL
            unsafe { gather(address, shape, strides, item, &mut bytes) };
            return self.bytes(&bytes);
        };
        if shape.len() > 1 {
            self.word(b'/', format!("{:?}", steps(shape, strides)).as_bytes());
        }
        if self.settings.unread.contains(&(address, span)) {
            self.out.push(b'M');
            return self.large.push(String::from_utf8(vec![written::UNREAD; written::LARGE]).unwrap_or_default());
        }
        if let Place::Shared { number, offset, is_within } = self.spans.meet(address, span) {
            self.count(b'=', number as usize);
            self.word(b'+', &offset.to_le_bytes());
            if is_within {
                return;
            }
        }
        // SAFETY: as above; without gaps
        self.bytes(unsafe { std::slice::from_raw_parts(address as *const u8, span) });
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let found = self.settings.memory.digest(bytes);
        if bytes.len() < memory::LARGE {
            return self.out.extend_from_slice(&found.to_le_bytes());
        }
        self.out.push(b'M');
        let mut text = format!("{found:032x}");
        text.truncate(written::LARGE);
        self.large.push(text);
    }
}

/// The strides that count: of an axis of one element any will do.
fn steps(shape: &[usize], strides: &[isize]) -> Vec<isize> {
    shape.iter().zip(strides).filter(|(size, _)| **size > 1).map(|(_, step)| *step).collect()
}
