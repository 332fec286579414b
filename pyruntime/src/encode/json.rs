//! JSON text as Python's `json.dumps` writes it without spaces: ASCII, numbers as `repr` gives them.
use std::fmt::{Arguments, Write};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple};

/// From here on, and below [`SMALL`], Python writes a number with an exponent.
const LARGE: f64 = 1e16;
const SMALL: f64 = 1e-4;

/// A text in quotation marks.
pub fn put_str(text: &str, out: &mut String) {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    let plain = text.bytes().position(|byte| !is_plain(byte)).unwrap_or(text.len());
    out.push('"');
    out.push_str(&text[..plain]);
    text[plain..].chars().for_each(|c| put_char(c, out));
    out.push('"');
}

fn put_char(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        ' '..='~' => out.push(c),
        c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| put(out, format_args!("\\u{unit:04x}"))),
    }
}

/// A number that is neither infinite nor NaN.
pub(super) fn put_float(value: f64, out: &mut String) {
    let size = value.abs();
    if size == 0.0 || (SMALL..LARGE).contains(&size) {
        put(out, format_args!("{value:?}"));
        return;
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    put(out, format_args!("{digits}e{sign}{exponent:0>2}"));
}

/// Writing to a `String` cannot fail.
pub(super) fn put(out: &mut String, text: Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// A whole number.
pub(super) fn put_number(number: impl itoa::Integer, out: &mut String) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// `[a,b,…]`, each item by `one`.
pub(super) fn put_list<T>(items: impl IntoIterator<Item = T>, out: &mut String, mut one: impl FnMut(T, &mut String)) {
    out.push('[');
    for (number, item) in items.into_iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        one(item, out);
    }
    out.push(']');
}

/// What an encoder written in Python returned: lists of numbers, texts and nothing else.
pub(super) fn dump(value: &Bound<'_, PyAny>, out: &mut String) -> PyResult<()> {
    if value.is_none() {
        out.push_str("null");
    } else if let Ok(flag) = value.cast::<PyBool>() {
        out.push_str(if flag.is_true() { "true" } else { "false" });
    } else if let Ok(text) = value.cast::<PyString>() {
        put_str(&text.to_cow()?, out);
    } else if value.is_exact_instance_of::<PyInt>() {
        out.push_str(&value.str()?.to_cow()?);
    } else if let Ok(number) = value.cast_exact::<PyFloat>() {
        put_float(number.value(), out);
    } else if let Ok(list) = value.cast::<PyList>() {
        dump_all(list.iter(), out)?;
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        dump_all(tuple.iter(), out)?;
    } else {
        return Err(PyTypeError::new_err(format!("{} is not written as JSON", value.get_type())));
    }
    Ok(())
}

fn dump_all<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>, out: &mut String) -> PyResult<()> {
    out.push('[');
    for (number, item) in items.enumerate() {
        if number > 0 {
            out.push(',');
        }
        dump(&item, out)?;
    }
    out.push(']');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(one: impl Fn(&mut String)) -> String {
        let mut out = String::new();
        one(&mut out);
        out
    }

    #[test]
    fn numbers_are_spelled_as_python_spells_them() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (-1.5e-7, "-1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e300, "1.25e+300"),
            (5e-324, "5e-324"),
        ];
        for (value, spelled) in cases {
            assert_eq!(written(|out| put_float(value, out)), spelled);
        }
    }

    #[test]
    fn texts_are_ascii() {
        assert_eq!(written(|out| put_str("plain", out)), "\"plain\"");
        assert_eq!(written(|out| put_str("a\"\\\n\u{7f}é😀", out)), r#""a\"\\\n\u007f\u00e9\ud83d\ude00""#);
    }
}
