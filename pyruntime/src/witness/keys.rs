//! Under which names digests stand.
use std::collections::HashSet;

use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use super::classes::Way;
use super::fixed::is_fixed;
use super::parts::{each_item, own_dict};
use super::walk::{Settings, digest};
use super::written::{ATOM, OPEN};
use crate::class_table::Addresses;

/// So many levels of attributes of objects of the script's have digests of their own.
const DEEPEST: usize = 2;
/// Of more attributes than these, one digest is made.
const MOST_ATTRIBUTES: usize = 64;

pub(super) fn of_roots(
    roots: Vec<(String, Bound<'_, PyAny>)>,
    settings: &Settings<'_>,
) -> PyResult<Vec<(String, String)>> {
    let mut found = Vec::with_capacity(roots.len());
    let mut met: Addresses<String> = Addresses::default();
    let mut waiting: Vec<(String, Bound<'_, PyAny>, usize)> =
        roots.into_iter().rev().map(|(key, value)| (key, value, 0)).collect();
    while let Some((key, value, depth)) = waiting.pop() {
        let class = settings.classes.of(&value.get_type())?;
        let address = value.as_ptr() as usize;
        let is_scripts = class.is_scripts && matches!(class.way, Way::Object);
        let is_open = is_scripts && depth < DEEPEST;
        if let Some(first) = is_scripts.then(|| met.get(&address)).flatten() {
            found.push((key, format!("={first}")));
            continue;
        }
        if let Some(number) = small(&value, settings.files) {
            found.push((key, number));
            continue;
        }
        if is_fixed(&value) {
            found.push((key, format!("{ATOM}{}", digest(&value, settings, false)?)));
            continue;
        }
        let own = if is_open { own_dict(&value) } else { None };
        let Some(own) = own.filter(|own| own.len() <= MOST_ATTRIBUTES) else {
            found.push((key, digest(&value, settings, false)?));
            continue;
        };
        met.insert(address, key.clone());
        let mut parts = Vec::new();
        each_item(&own, |name, part| {
            if let Ok(text) = name.cast_exact::<PyString>().map_err(PyErr::from).and_then(|text| text.to_str()) {
                parts.push((format!("{key}/{text}"), part, depth + 1));
            }
        });
        parts.sort_by(|one, two| two.0.cmp(&one.0));
        found.push((key, digest(&value, settings, true)?));
        waiting.extend(parts);
    }
    Ok(found)
}

/// A whole number that may be that of a file or a process is told as it is: in a replay it may be another one.
fn small(value: &Bound<'_, PyAny>, files: &HashSet<i32>) -> Option<String> {
    let number: i32 = value.cast_exact::<PyInt>().ok()?.extract().ok()?;
    if number < 0 {
        return None;
    }
    Some(if files.contains(&number) { format!("{OPEN}{number}") } else { number.to_string() })
}
