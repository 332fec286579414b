//! Whether compressing a chunk is worth the time.
use std::cell::RefCell;
use std::io;

use zstd::bulk::Compressor;

/// Compression level: the fastest one, since training waits for the disk and never for us.
pub(super) const LEVEL: i32 = 1;
const SAMPLE: usize = 16 << 10;
const SAMPLES: usize = 4;
const TOO_SMALL: usize = 256;

thread_local! {
    /// To make one takes longer than to compress a small tensor.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// The bytes as one zstd frame that tells its length.
pub(super) fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            None => kept.insert(Compressor::new(LEVEL)?),
        };
        compressor.compress(bytes)
    })
}

/// What is to be done with a chunk.
#[derive(Debug, PartialEq)]
pub(super) enum Way {
    /// To be kept as it is.
    Raw,
    /// To be compressed.
    Zstd,
    /// Compressed already, as a small chunk is its own sample.
    Frame(Vec<u8>),
}

/// Whether a sample of the bytes shrinks by a tenth or more.
pub(super) fn way(bytes: &[u8]) -> Way {
    if bytes.len() < TOO_SMALL {
        return Way::Raw;
    }
    let is_whole = bytes.len() <= SAMPLE * SAMPLES;
    let (mut before, mut after) = (0usize, 0usize);
    let mut frame = Vec::new();
    for sample in samples(bytes) {
        let Ok(small) = compressed(sample) else {
            return Way::Raw;
        };
        before += sample.len();
        after += small.len();
        frame = small;
    }
    match after.saturating_mul(10) <= before.saturating_mul(9) {
        true if is_whole => Way::Frame(frame),
        true => Way::Zstd,
        false => Way::Raw,
    }
}

fn samples(bytes: &[u8]) -> Vec<&[u8]> {
    if bytes.len() <= SAMPLE * SAMPLES {
        return vec![bytes];
    }
    let step = (bytes.len() - SAMPLE) / (SAMPLES - 1);
    (0..SAMPLES).map(|number| &bytes[number * step..number * step + SAMPLE]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_worth_it_and_noise_is_not() {
        let noise: Vec<u8> = (0u64..9000).flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes()).collect();
        assert_eq!(way(&vec![0; 1 << 20]), Way::Zstd);
        assert_eq!(way(&noise), Way::Raw);
        assert_eq!(way(&[0; 100]), Way::Raw);
        assert_eq!(way(&[]), Way::Raw);
        let Way::Frame(frame) = way(&[0; 5000]) else { panic!("small and worth it") };
        assert_eq!(zstd::bulk::decompress(&frame, 5000).unwrap(), [0; 5000]);
    }
}
