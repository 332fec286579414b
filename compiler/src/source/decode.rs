//! Bytes to text: byte order mark and coding cookie (PEP 263).

/// Decodes a Python file.
///
/// UTF-8 (the default), ASCII and Latin-1 are decoded here; for any other coding cookie the error says so, and the
/// Python side, which has every codec, passes the decoded text instead.
///
/// # Errors
/// A sentence for the user when the bytes are not text in the declared encoding; the offset is of the first bad byte.
pub fn decode(bytes: &[u8]) -> Result<String, (usize, String)> {
    let (body, has_bom) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => (rest, true),
        None => (bytes, false),
    };
    let cookie = cookie(body).unwrap_or_else(|| "utf-8".to_owned());
    match cookie.as_str() {
        "utf-8" | "utf8" | "utf-8-sig" | "ascii" | "us-ascii" => match std::str::from_utf8(body) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => {
                let at = error.valid_up_to();
                let byte = body[at];
                Err((at, format!("byte 0x{byte:02x} is not valid {cookie}")))
            }
        },
        "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" | "l1" if !has_bom => {
            Ok(body.iter().map(|&byte| char::from(byte)).collect())
        }
        other => Err((0, format!("encoding `{other}` is only available through the Python package"))),
    }
}

/// The encoding named in a coding cookie on one of the first two lines, lower-case with dashes.
fn cookie(body: &[u8]) -> Option<String> {
    for line in body.split(|&byte| byte == b'\n').take(2) {
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

fn cookie_in_comment(comment: &str) -> Option<String> {
    let at = comment.find("coding")? + "coding".len();
    let rest = comment[at..].strip_prefix([':', '='])?.trim_start();
    let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')).collect();
    (!name.is_empty()).then(|| name.to_ascii_lowercase().replace('_', "-"))
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
        assert!(decode(b"# coding: shift_jis\n").unwrap_err().1.contains("shift-jis"));
    }
}
