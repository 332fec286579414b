//! Escapes in string literals.

use crate::source::Range;
use std::borrow::Cow;

/// The value of the body of a string literal that is not raw; line ends become `\n`, as Python reads them.
///
/// # Errors
/// What is wrong, and where in `body`.
pub(super) fn unescape(body: &str) -> Result<Cow<'_, str>, (String, Range)> {
    if !body.contains(['\\', '\r']) {
        return Ok(Cow::Borrowed(body));
    }
    let mut value = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(found) = rest.find(['\\', '\r']) {
        value.push_str(&rest[..found]);
        let at = body.len() - rest.len() + found;
        rest = &rest[found..];
        let width = if rest.starts_with('\r') { line_end(rest, &mut value) } else { escape(rest, at, &mut value)? };
        rest = &rest[width..];
    }
    value.push_str(rest);
    Ok(Cow::Owned(value))
}

fn line_end(rest: &str, value: &mut String) -> usize {
    value.push('\n');
    if rest.starts_with("\r\n") { 2 } else { 1 }
}

/// One escape at the start of `rest`, which is at `at`: appends its value, returns its width.
fn escape(rest: &str, at: usize, value: &mut String) -> Result<usize, (String, Range)> {
    let Some(kind) = rest[1..].chars().next() else {
        value.push('\\');
        return Ok(1);
    };
    let plain = match kind {
        '\n' => return Ok(2),
        '\r' => return Ok(if rest[1..].starts_with("\r\n") { 3 } else { 2 }),
        'x' => return hexadecimal(rest, 2, at, value),
        'u' => return hexadecimal(rest, 4, at, value),
        'U' => return hexadecimal(rest, 8, at, value),
        'N' => return named(rest, at, value),
        '0'..='7' => {
            let digits = rest[1..].bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            value.extend(u32::from_str_radix(&rest[1..=digits], 8).ok().and_then(char::from_u32));
            return Ok(1 + digits);
        }
        '\\' | '\'' | '"' => kind,
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        // Not an escape: both characters stay.
        other => {
            value.push('\\');
            other
        }
    };
    value.push(plain);
    Ok(1 + kind.len_utf8())
}

fn hexadecimal(rest: &str, digits: usize, at: usize, value: &mut String) -> Result<usize, (String, Range)> {
    let found = rest[2..].bytes().take(digits).take_while(u8::is_ascii_hexdigit).count();
    let range = Range::new(at, at + 2 + found);
    if found < digits {
        return Err((format!("an escape that is cut short: `{}` takes {digits} digits", &rest[..2]), range));
    }
    let code = u32::from_str_radix(&rest[2..2 + digits], 16).unwrap_or(u32::MAX);
    if code > 0x10_ffff {
        return Err(("no such Unicode character".to_owned(), range));
    }
    // A lone surrogate has no place in a Rust string.
    value.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    Ok(2 + digits)
}

/// `\N{BULLET}`: the form is checked; the names are Python's, and each version has more of them.
fn named(rest: &str, at: usize, value: &mut String) -> Result<usize, (String, Range)> {
    let width = rest.strip_prefix("\\N{").and_then(|name| name.find('}')).filter(|&width| width > 0);
    let Some(width) = width else {
        return Err(("`\\N` is followed by a name in braces: `\\N{BULLET}`".to_owned(), Range::new(at, at + 2)));
    };
    value.push(char::REPLACEMENT_CHARACTER);
    Ok(3 + width + 1)
}

/// Checks the escapes of a bytes literal.
pub(super) fn check_bytes(body: &str) -> Result<(), (String, Range)> {
    if let Some(at) = body.find(|c: char| !c.is_ascii()) {
        let width = body[at..].chars().next().map_or(1, char::len_utf8);
        return Err(("bytes can only contain ASCII literal characters".to_owned(), Range::new(at, at + width)));
    }
    let mut rest = body;
    while let Some(found) = rest.find('\\') {
        let at = body.len() - rest.len() + found;
        rest = &rest[found..];
        let width = if rest[1..].starts_with('x') { hexadecimal(rest, 2, at, &mut String::new())? } else { 2 };
        rest = &rest[width.min(rest.len())..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{check_bytes, unescape};

    #[test]
    fn values() {
        assert_eq!(unescape("plain").unwrap(), "plain");
        assert_eq!(unescape(r"a\n\x41\101\u00e9\q\'\0").unwrap(), "a\nAAé\\q'\0");
        assert_eq!(unescape("a\\\r\nb\r\nc\rd").unwrap(), "ab\nc\nd");
        assert_eq!(unescape(r"\N{BULLET}!").unwrap(), "\u{fffd}!");
    }

    #[test]
    fn malformed() {
        for body in [r"\x4", r"\u12", r"\U00110000", r"\N", r"\N{}", r"\N{x"] {
            assert!(unescape(body).is_err(), "{body}");
        }
        assert!(check_bytes(r"\x4").is_err() && check_bytes("é").is_err() && check_bytes(r"\N \u \\x").is_ok());
    }
}
