//! One digest: everything that a value leads to, breadth first. No method, property or hash of the script's runs.
use std::collections::{HashSet, VecDeque};

use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use twox_hash::XxHash3_64;

use super::classes::{Base, Class, Classes, Way, text_of};
use super::fixed::{VALUE_DEPTH, is_value};
use super::memory::{Known, Spans};
use super::outside::Outside;
use super::parts::{each_item, is_pythons, own_dict};
use crate::class_table::Addresses;

pub(super) struct Settings<'a> {
    pub classes: &'a Classes,
    pub memory: &'a Known,
    pub outside: &'a Outside,
    pub gradients: bool,
    /// What leads to more objects is read so far.
    pub most: usize,
    pub unread: &'a HashSet<(usize, usize)>,
    pub rebound: &'a HashSet<String>,
    /// Numbers of the files that are open, but for the standard streams.
    pub files: &'a HashSet<i32>,
}

/// The digest of what a value leads to. `is_open`: its attributes have digests of their own, and only their names are in this one.
pub(super) fn digest(value: &Bound<'_, PyAny>, settings: &Settings<'_>, is_open: bool) -> PyResult<String> {
    let mut walk = Walk::new(settings, 0);
    if is_open {
        let class = settings.classes.of(&value.get_type())?;
        walk.word(b'O', class.name.as_bytes());
        if let Some(own) = own_dict(value) {
            let mut names = Vec::new();
            each_item(&own, |name, _| names.push(text_of(&name)));
            names.sort();
            names.iter().for_each(|name| walk.word(b'a', name.as_bytes()));
        }
    } else {
        walk.part(value)?;
        walk.rest(value.py())?;
    }
    let mut text = format!("{:016x}", XxHash3_64::oneshot(&walk.out));
    walk.large.iter().for_each(|large| text.push_str(large));
    Ok(text)
}

pub(super) struct Walk<'a, 'py> {
    pub settings: &'a Settings<'a>,
    pub out: Vec<u8>,
    /// Digests of large memory, in the order in which it was met.
    pub large: Vec<String>,
    numbers: Addresses<u32>,
    pub spans: Spans,
    /// Met, and not read yet.
    waiting: VecDeque<Bound<'py, PyAny>>,
    /// What florc made, so that no other object gets its address.
    pub kept: Vec<Bound<'py, PyAny>>,
    /// In so many sets inside sets, and values inside values.
    pub depth: usize,
}

impl<'a, 'py> Walk<'a, 'py> {
    pub fn new(settings: &'a Settings<'a>, depth: usize) -> Self {
        Walk {
            settings,
            out: Vec::new(),
            large: Vec::new(),
            numbers: Addresses::default(),
            spans: Spans::default(),
            waiting: VecDeque::new(),
            kept: Vec::new(),
            depth,
        }
    }

    pub fn word(&mut self, kind: u8, bytes: &[u8]) {
        self.out.push(kind);
        self.out.extend_from_slice(&bytes.len().to_le_bytes());
        self.out.extend_from_slice(bytes);
    }

    pub fn count(&mut self, kind: u8, count: usize) {
        self.out.push(kind);
        self.out.extend_from_slice(&count.to_le_bytes());
    }

    /// Reads what was met. An object that cannot be read is known by its class, and by what was read of it.
    pub fn rest(&mut self, py: Python<'py>) -> PyResult<()> {
        while let Some(value) = self.waiting.pop_front() {
            match self.content(&value) {
                Err(error) if error.is_instance_of::<PyException>(py) => self.word(b'!', b"unreadable"),
                done => done?,
            }
        }
        Ok(())
    }

    /// A value where it is held: as it is, or as a number that stands for an object.
    pub fn part(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if self.atom(value)? {
            return Ok(());
        }
        if let Ok(tuple) = value.cast_exact::<PyTuple>()
            && is_value(tuple, VALUE_DEPTH)
        {
            return self.value(tuple);
        }
        let class = self.settings.classes.of(&value.get_type())?;
        if matches!(class.way, Way::Leaf | Way::Text) && class.base == Base::None {
            return self.leaf(value, &class);
        }
        if matches!(class.way, Way::Scalar | Way::Reduce) {
            self.word(b'v', class.name.as_bytes());
            return if matches!(class.way, Way::Scalar) { self.scalar(value) } else { self.reduced(value) };
        }
        let address = value.as_ptr() as usize;
        if let Some(number) = self.numbers.get(&address) {
            let number = *number as usize;
            self.count(b'#', number);
            return Ok(());
        }
        let number = self.numbers.len();
        if number >= self.settings.most {
            self.out.push(b'~');
            return Ok(());
        }
        self.numbers.insert(address, number as u32);
        self.count(b'#', number);
        self.waiting.push_back(value.clone());
        Ok(())
    }

    /// What an object holds.
    fn content(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let class = &*self.settings.classes.of(&value.get_type())?;
        self.word(b'o', class.name.as_bytes());
        if !matches!(class.way, Way::Reader(_)) {
            self.base(value, class)?;
        }
        if class.is_exact {
            return Ok(());
        }
        match &class.way {
            Way::Leaf => {}
            Way::Same => self.count(b'I', value.as_ptr() as usize),
            Way::Text => {
                let text = value.str()?;
                self.text(&text);
            }
            Way::Reader(reader) => {
                let made = reader.bind(value.py()).call1((value,))?;
                self.kept.push(made.clone());
                self.part(&made)?;
            }
            Way::Scalar | Way::Reduce => {} // values, where they are held
            Way::Array => {
                self.array(value)?;
                self.attributes(value, class)?;
            }
            Way::Tensor => {
                self.tensor(value)?;
                self.attributes(value, class)?;
            }
            Way::Function => self.function(value, class)?,
            Way::Method => {
                self.part(&value.getattr(intern!(value.py(), "__func__"))?)?;
                self.part(&value.getattr(intern!(value.py(), "__self__"))?)?;
            }
            Way::Builtin => {
                self.word(b'q', text_of(&value.getattr(intern!(value.py(), "__qualname__"))?).as_bytes());
                let bound = value.getattr(intern!(value.py(), "__self__"))?;
                self.part(&bound)?;
            }
            Way::Cell => match value.getattr(intern!(value.py(), "cell_contents")) {
                Ok(held) => self.part(&held)?,
                Err(_) => self.out.push(b'e'),
            },
            Way::Class => self.class(value.cast::<PyType>()?)?,
            Way::Object if matches!(class.base, Base::List | Base::Tuple | Base::Dict | Base::Set) => {
                self.attributes(value, class)?;
            }
            Way::Object => self.object(value, class)?,
        }
        Ok(())
    }

    /// What is in a container, or what a number or text is, by the class of Python's that it is derived from.
    fn base(&mut self, value: &Bound<'py, PyAny>, class: &Class) -> PyResult<()> {
        match class.base {
            Base::List => {
                let list = value.cast::<PyList>()?;
                self.count(b'l', list.len());
                for at in 0..list.len() {
                    self.part(&list.get_item(at)?)?;
                }
            }
            Base::Tuple => {
                let tuple = value.cast::<PyTuple>()?;
                self.count(b't', tuple.len());
                for item in tuple.iter() {
                    self.part(&item)?;
                }
            }
            Base::Dict => {
                let dict = value.cast::<PyDict>()?;
                self.out.push(b'd');
                let mut items = Vec::with_capacity(dict.len());
                each_item(dict, |key, item| items.push((key, item)));
                for (key, item) in items {
                    if is_pythons(&key) {
                        continue; // a namespace of `exec`
                    }
                    self.part(&key)?;
                    self.part(&item)?;
                }
            }
            Base::Set => self.set(value)?,
            Base::Whole if !class.is_exact => {
                let number = value.py().get_type::<PyInt>().getattr("__index__")?.call1((value,))?;
                self.whole(&number)?;
            }
            Base::Float if !class.is_exact => self.float(value.cast::<PyFloat>()?.value()),
            Base::Text if !class.is_exact => self.text(value.cast::<PyString>()?),
            Base::Bytes if !class.is_exact => self.word(b'y', value.cast::<PyBytes>()?.as_bytes()),
            _ => {}
        }
        Ok(())
    }
}
