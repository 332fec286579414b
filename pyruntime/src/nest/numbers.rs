//! The whole numbers that a loop is over: the first two are told, and each that is not as far from the one before as they are from
//! each other. So all of them are known.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

/// So many numbers that follow no rule are told of one run of a loop.
const MOST: u32 = 1000;

/// What is to be told of an item.
#[derive(Debug, PartialEq, Eq)]
pub enum Told {
    Nothing,
    Number(i64),
    /// There are too many of them: none counts any more.
    NoNumbers,
}

/// Of one run of a loop.
#[derive(Debug, Default)]
pub struct Numbers {
    last: Option<i64>,
    step: Option<i64>,
    told: u32,
}

impl Numbers {
    /// The next item: the number that it is, or that it begins with.
    pub fn next(&mut self, item: &Bound<'_, PyAny>) -> Told {
        if self.told > MOST {
            return Told::Nothing;
        }
        let number = number_of(item);
        let expected = self.last.zip(self.step).and_then(|(last, step)| last.checked_add(step));
        if let (None, Some(last), Some(number)) = (self.step, self.last, number) {
            self.step = number.checked_sub(last);
        }
        let is_one = number.is_some() || self.last.is_some();
        self.last = number;
        if number == expected && number.is_some() || !is_one {
            return Told::Nothing;
        }
        self.told += 1;
        match number {
            Some(number) if self.told <= MOST => Told::Number(number),
            _ => {
                self.told = MOST + 1; // what is no number has none, and those around it neither
                Told::NoNumbers
            }
        }
    }
}

fn number_of(item: &Bound<'_, PyAny>) -> Option<i64> {
    let first = item.cast_exact::<PyTuple>().ok().and_then(|tuple| tuple.get_item(0).ok());
    let value = first.as_ref().unwrap_or(item);
    if !value.is_exact_instance_of::<PyInt>() {
        return None;
    }
    let mut overflow = 0;
    // SAFETY: an int; what it cannot hold is told by `overflow`, and no error is set
    let number = unsafe { ffi::PyLong_AsLongLongAndOverflow(value.as_ptr(), &raw mut overflow) };
    (overflow == 0).then_some(number)
}
