//! What the multi-byte codecs read, for `tools/codecs.py --compare`.

use florc::source::decode;
use std::fmt::Write as _;

const CODECS: &[&str] = &["cp932", "cp949", "euc_kr", "gbk", "gb2312", "euc_jp", "shift_jis"];

#[test]
#[ignore = "writes a file for tools/codecs.py"]
fn dump_two_bytes() {
    let mut out = String::new();
    for codec in CODECS {
        let cookie = format!("# coding: {codec}\n");
        let _ = write!(out, "{codec}\t");
        for lead in 0x80..=0xff_u8 {
            for bytes in std::iter::once(vec![lead]).chain((0x30..=0xff_u8).map(|trail| vec![lead, trail])) {
                let mut file = cookie.clone().into_bytes();
                file.extend(&bytes);
                if let Ok(text) = decode(&file) {
                    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                    let codes: Vec<String> =
                        text[cookie.len()..].chars().map(|c| format!("{:x}", u32::from(c))).collect();
                    let _ = write!(out, "{hex}={} ", codes.join(","));
                }
            }
        }
        out.push('\n');
    }
    std::fs::write(std::env::temp_dir().join("florc-two-bytes.txt"), out).expect("a file");
}
