//! The text of a checkpoint's record: its header, and where its bytes are.
use std::collections::BTreeMap;
use std::fmt::Write;

use serde::de::IgnoredAny;

use crate::store::ChunkHash;

/// Why a header cannot become a checkpoint's record.
pub(super) fn check_header(header: &str) -> Result<(), String> {
    let fields: BTreeMap<String, IgnoredAny> =
        serde_json::from_str(header).map_err(|error| format!("the header is no JSON object: {error}"))?;
    match ["chunks", "seq"].into_iter().find(|name| fields.contains_key(*name)) {
        Some(name) => Err(format!("the header has a field {name:?} of its own")),
        None => Ok(()),
    }
}

/// The header with `chunks` and `seq` added; its own text is kept as it is.
pub(super) fn record(header: &str, chunks: &[(ChunkHash, usize)], seq: u64) -> String {
    let header = header.trim_end();
    let open = header.strip_suffix('}').unwrap_or(header).trim_end();
    let comma = if open.trim_start() == "{" { "" } else { "," };
    let mut text = format!("{open}{comma}\"chunks\":[");
    for (number, (hash, len)) in chunks.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        // writing to a String does not fail
        let _ = write!(text, "{comma}{{\"hash\":\"{hash}\",\"len\":{len}}}");
    }
    let _ = write!(text, "],\"seq\":{seq}}}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_keeps_its_text() {
        let chunks = [(ChunkHash([0; 32]), 5)];
        let zeros = "0".repeat(64);
        let end = format!("\"chunks\":[{{\"hash\":\"{zeros}\",\"len\":5}}],\"seq\":2}}");
        assert_eq!(record("{}", &chunks, 2), format!("{{{end}"));
        assert_eq!(record(" { } \n", &chunks, 2), format!(" {{{end}"));
        assert_eq!(record("{\"a\": 1.10}", &chunks, 2), format!("{{\"a\": 1.10,{end}"));
        assert_eq!(record("{\"a\": {\"b\": {}} } ", &chunks, 2), format!("{{\"a\": {{\"b\": {{}}}},{end}"));
        for header in ["[]", "", "{", "{\"a\": NaN}", "{\"seq\": 1}", "{\"chunks\": 1}", "{} {}"] {
            assert!(check_header(header).is_err(), "{header}");
        }
    }
}
