//! A digest of everything that names lead to, by name: taken where a checkpoint is made, and again where it was restored. It knows
//! neither the plan nor the encoder, so what these overlook shows in it (`survey/witness.py` says how it is used).
//!
//! `walk` visits the objects, `values`, `objects` and `buffers` read them, `classes` asks Python once for each class what its objects are. Two digests are
//! equal where two processes hold the same: numbers stand for objects, in the order in which they are met, and no address counts.
//! What is another in each process and told elsewhere is masked (`outside`).
mod buffers;
mod classes;
mod fixed;
mod keys;
mod memory;
mod objects;
pub mod outside;
mod parts;
mod values;
mod walk;
mod written;

pub use classes::named;
pub use parts::{each_item, is_pythons};

use std::collections::HashSet;

use pyo3::prelude::*;

use classes::Classes;
use memory::Known;
use outside::Outside;

/// Takes digests. What it knows of large memory is kept from one to the next.
#[pyclass(frozen, module = "florc._native")]
#[derive(Debug)]
pub struct Witness {
    classes: Classes,
    memory: Known,
    most: usize,
}

#[pymethods]
impl Witness {
    /// `ask`: what objects of a class are (`survey/witness.py`); `is_scripts`: contains the modules whose classes are the script's; `most`:
    /// of a name that leads to more objects so many are read.
    #[new]
    fn new(ask: Py<PyAny>, is_scripts: Py<PyAny>, most: usize) -> Witness {
        Witness { classes: Classes { ask, is_scripts, known: Default::default() }, memory: Known::default(), most }
    }

    /// A digest of one object.
    fn of_object(&self, object: &Bound<'_, PyAny>) -> PyResult<String> {
        let outside = Outside { spans: Vec::new(), processes: Vec::new() };
        let (unread, rebound) = (HashSet::new(), HashSet::new());
        walk::digest(object, &self.settings(&outside, false, &unread, &rebound, &HashSet::new()), false)
    }

    /// Of each root a digest of what it leads to, and of objects of the script's one for each attribute, two levels deep:
    /// `("model", …)`, `("trainer/best", …)`. In a digest, memory of 64 KiB or more has a part of its own.
    ///
    /// `outside`: between which seconds the time of day was, and numbers of this process, now and then; `gradients`: whether those
    /// of leaves count; `unread`: memory that is not filled yet, address and bytes; `rebound`: names whose cells do not count;
    /// `files`: numbers of those that are open.
    fn of(
        &self,
        roots: Vec<(String, Bound<'_, PyAny>)>,
        outside: (Vec<(f64, f64)>, Vec<i64>),
        gradients: bool,
        unread: HashSet<(usize, usize)>,
        rebound: HashSet<String>,
        files: HashSet<i32>,
    ) -> PyResult<Vec<(String, String)>> {
        let outside = Outside { spans: outside.0, processes: outside.1 };
        keys::of_roots(roots, &self.settings(&outside, gradients, &unread, &rebound, &files))
    }

    /// Whether two digests of one name say that it holds the same; memory that was not read in one of them may hold anything.
    #[staticmethod]
    fn is_same(one: &str, two: &str) -> bool {
        written::is_same(one, two)
    }
}

impl Witness {
    fn settings<'a>(
        &'a self,
        outside: &'a Outside,
        gradients: bool,
        unread: &'a HashSet<(usize, usize)>,
        rebound: &'a HashSet<String>,
        files: &'a HashSet<i32>,
    ) -> walk::Settings<'a> {
        let (classes, memory, most) = (&self.classes, &self.memory, self.most);
        walk::Settings { classes, memory, outside, gradients, most, unread, rebound, files }
    }
}
