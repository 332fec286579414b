//! Bytes to text: byte order mark and coding cookie (PEP 263).

use super::codecs;

/// Decodes a Python file.
///
/// Encodings that are read here as Python reads them are decoded; for the rest the error says what to do.
///
/// # Errors
/// A sentence for the user when the bytes are not text in the declared encoding; the offset is of the first bad byte.
pub fn decode(bytes: &[u8]) -> Result<String, (usize, String)> {
    let (body, has_bom) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => (rest, true),
        None => (bytes, false),
    };
    let cookie = cookie(body).unwrap_or_else(|| "utf-8".to_owned());
    let is = |name: &str| cookie == name || cookie.starts_with(&format!("{name}-"));
    if is("utf-8") || cookie == "utf8" {
        return utf8(body, &cookie);
    }
    if has_bom {
        return Err((0, format!("the file begins with the mark of UTF-8, but declares `{cookie}`")));
    }
    if matches!(cookie.as_str(), "ascii" | "us-ascii" | "646") {
        return match body.iter().position(|&byte| byte >= 0x80) {
            Some(at) => Err(bad(body, at, &cookie)),
            None => utf8(body, &cookie),
        };
    }
    if is("latin-1")
        || is("iso-8859-1")
        || is("iso-latin-1")
        || matches!(cookie.as_str(), "latin1" | "iso8859-1" | "l1")
    {
        return Ok(body.iter().map(|&byte| char::from(byte)).collect());
    }
    match codecs::decode(body, &cookie) {
        Some(decoded) => decoded.map_err(|at| bad(body, at, &cookie)),
        None => Err((0, format!("encoding `{cookie}` is only available through the Python package"))),
    }
}

fn utf8(body: &[u8], cookie: &str) -> Result<String, (usize, String)> {
    std::str::from_utf8(body).map(str::to_owned).map_err(|error| bad(body, error.valid_up_to(), cookie))
}

fn bad(body: &[u8], at: usize, cookie: &str) -> (usize, String) {
    let byte = body.get(at).copied().unwrap_or_default();
    (at, format!("byte 0x{byte:02x} is not valid {cookie}"))
}

/// The encoding named in a coding cookie on one of the first two lines, lower-case with dashes.
fn cookie(body: &[u8]) -> Option<String> {
    for line in first_lines(body) {
        let text: String = line.iter().map(|&byte| char::from(byte)).collect();
        let trimmed = text.trim_start_matches([' ', '\t', '\x0c']);
        if !trimmed.starts_with('#') {
            // A cookie on line two counts only when line one is blank or a comment.
            if trimmed.trim().is_empty() {
                continue;
            }
            return None;
        }
        if let Some(found) = cookie_in_comment(trimmed) {
            return Some(found);
        }
    }
    None
}

/// The first two lines, whatever ends them.
fn first_lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(body);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            rest = None;
            return Some(text);
        };
        let width = if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = Some(&text[end + width..]);
        Some(&text[..end])
    })
    .take(2)
}

fn cookie_in_comment(comment: &str) -> Option<String> {
    comment.match_indices("coding").find_map(|(at, word)| {
        let rest = comment[at + word.len()..].strip_prefix([':', '='])?.trim_start_matches([' ', '\t']);
        let is_part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name: String = rest.chars().take_while(is_part).collect();
        (!name.is_empty()).then(|| name.to_ascii_lowercase().replace('_', "-"))
    })
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn bom_and_cookie() {
        assert_eq!(decode(b"\xef\xbb\xbfx = 1\n").unwrap(), "x = 1\n");
        assert_eq!(decode(b"# -*- coding: latin-1 -*-\nx = '\xe9'\n").unwrap(), "# -*- coding: latin-1 -*-\nx = 'é'\n");
        assert!(decode(b"#!/usr/bin/python\n# vim: set fileencoding=iso-8859-1 :\n'\xe9'").unwrap().ends_with("'é'"));
        assert!(decode(b"x = '\xe9'\n").is_err());
        assert!(decode(b"# coding: utf-7\n").unwrap_err().1.contains("utf-7"));
        assert_eq!(decode(b"\r# coding=cp1251\r\xcf").unwrap(), "\r# coding=cp1251\rП");
        assert!(decode(b"\xef\xbb\xbf# coding: latin-1\n").unwrap_err().1.contains("mark of UTF-8"));
        assert!(decode(b"# coding: ascii\n'\xc3\xa9'").is_err());
        assert!(decode(b"# encoding, that is coding: utf-8-unix\n'\xc3\xa9'").is_ok());
    }
}
