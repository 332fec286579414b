//! A chunk's name: the BLAKE3 hash of its bytes.
use std::fmt;

/// The hash of a chunk's bytes, which is its name. Printed as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkHash(pub [u8; 32]);

impl ChunkHash {
    /// The name of these bytes.
    pub fn of(bytes: &[u8]) -> ChunkHash {
        ChunkHash(*blake3::hash(bytes).as_bytes())
    }

    /// Reads 64 hexadecimal digits; `None` for anything else.
    pub fn parse(text: &str) -> Option<ChunkHash> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut hash = [0u8; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            let high = char::from(pair[0]).to_digit(16)?;
            let low = char::from(pair[1]).to_digit(16)?;
            *byte = (high * 16 + low) as u8;
        }
        Some(ChunkHash(hash))
    }
}

impl fmt::Display for ChunkHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // a checkpoint's record has thousands of them: `{:02x}` would take longer than hashing a small chunk
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0u8; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        out.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for ChunkHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_agree() {
        let hash = ChunkHash::of(b"weights");
        assert_eq!(ChunkHash::parse(&hash.to_string()), Some(hash));
        assert_eq!(ChunkHash::parse(&hash.to_string().to_uppercase()), Some(hash));
        assert_eq!(ChunkHash::parse("12"), None);
        assert_eq!(ChunkHash::parse(&"zz".repeat(32)), None);
        assert_eq!(ChunkHash::parse(&"é".repeat(32)), None);
    }
}
