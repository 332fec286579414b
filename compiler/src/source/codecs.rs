//! The encodings beyond UTF-8 and Latin-1: where ours reads what Python's codec reads, byte for byte.
//!
//! Single-byte codecs are Python's own tables (`tools/codecs.py` writes them). Of the multi-byte codecs only those are here
//! that were compared with Python's over every one- and two-byte sequence.

use encoding_rs::Encoding;

/// A line per codec: its names, a tab, the characters of bytes 0x80 to 0xFF.
const SINGLE_BYTE: &str = include_str!("single_byte.tsv");

/// Decodes `bytes` by the codec that Python knows as `name` (lower-case); `None` for a codec that is not here.
///
/// The error is the offset of a byte that is no character.
pub(super) fn decode(bytes: &[u8], name: &str) -> Option<Result<String, usize>> {
    let name = name.replace(['-', ' ', '.'], "_");
    if let Some(table) = single_byte(&name) {
        return Some(by_table(bytes, table));
    }
    MULTI_BYTE.iter().find(|(names, ..)| names.contains(&name.as_str())).map(|codec| by_standard(bytes, codec))
}

fn single_byte(name: &str) -> Option<&'static str> {
    SINGLE_BYTE
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .find_map(|(names, table)| names.split(' ').any(|known| known == name).then_some(table))
}

fn by_table(bytes: &[u8], table: &str) -> Result<String, usize> {
    let upper: Vec<Option<char>> =
        table.split(' ').map(|code| u32::from_str_radix(code, 16).ok().and_then(char::from_u32)).collect();
    let mut text = String::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate() {
        let c =
            if byte < 0x80 { Some(char::from(byte)) } else { upper.get(usize::from(byte) - 0x80).copied().flatten() };
        text.push(c.ok_or(at)?);
    }
    Ok(text)
}

/// Python's names for each, the table of the Web's standard that is nearest, and what that reads another way than Python.
/// Bytes that Python refuses may be read here; the reverse is an error with a way out.
const MULTI_BYTE: &[MultiByte] = &[
    (&["cp932", "932", "ms932", "mskanji", "ms_kanji", "windows_31j"], encoding_rs::SHIFT_JIS, &[]),
    (&["cp949", "949", "ms949", "uhc"], encoding_rs::EUC_KR, &[]),
    (&["euc_kr", "euckr", "korean"], encoding_rs::EUC_KR, &[]),
    (&["gbk", "936", "cp936", "ms936"], encoding_rs::GBK, &[]),
    (&["gb2312", "chinese", "euc_cn", "euccn", "eucgb2312_cn"], encoding_rs::GBK, &[('·', '・'), ('—', '―')]),
    (&["euc_jp", "eucjp", "ujis", "u_jis"], encoding_rs::EUC_JP, JAPANESE),
    (&["shift_jis", "csshiftjis", "shiftjis", "sjis", "s_jis"], encoding_rs::SHIFT_JIS, JAPANESE),
];

type MultiByte = (&'static [&'static str], &'static Encoding, &'static [(char, char)]);

/// Microsoft's reading of six signs, and that of the Japanese standard.
const JAPANESE: &[(char, char)] = &[
    ('\u{ff5e}', '\u{301c}'),
    ('\u{2225}', '\u{2016}'),
    ('\u{ff0d}', '\u{2212}'),
    ('\u{ffe0}', '\u{a2}'),
    ('\u{ffe1}', '\u{a3}'),
    ('\u{ffe2}', '\u{ac}'),
];

fn by_standard(bytes: &[u8], (_, encoding, otherwise): &MultiByte) -> Result<String, usize> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
    let text = text.ok_or_else(|| first_bad(bytes, encoding))?;
    let python = |c: char| otherwise.iter().find(|(web, _)| *web == c).map_or(c, |(_, python)| *python);
    Ok(text.chars().map(python).collect())
}

/// The beginning of the first line that cannot be read.
fn first_bad(bytes: &[u8], encoding: &'static Encoding) -> usize {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n');
    let mut at = 0;
    for line in lines {
        if encoding.decode_without_bom_handling_and_without_replacement(line).is_none() {
            return at;
        }
        at += line.len();
    }
    at.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn tables() {
        assert_eq!(decode(b"\xcf\xf0\xe8", "windows-1251").unwrap().unwrap(), "При");
        assert_eq!(decode(b"a\x81", "cp1252").unwrap(), Err(1));
        assert_eq!(decode(b"\xa4", "iso-8859-15").unwrap().unwrap(), "€");
        assert_eq!(decode(b"\x93\xfa\x96{", "cp932").unwrap().unwrap(), "日本");
        assert!(decode(b"", "utf-7").is_none());
    }
}
