//! Whether compressing a chunk is worth the time.

/// Compression level: the fastest one, since training waits for the disk and never for us.
pub(super) const LEVEL: i32 = 1;
const SAMPLE: usize = 16 << 10;
const SAMPLES: usize = 4;
const TOO_SMALL: usize = 256;

/// True when a sample of the bytes shrinks by a tenth or more.
pub(super) fn worth_it(bytes: &[u8]) -> bool {
    if bytes.len() < TOO_SMALL {
        return false;
    }
    let (mut before, mut after) = (0usize, 0usize);
    for sample in samples(bytes) {
        let Ok(small) = zstd::bulk::compress(sample, LEVEL) else {
            return false;
        };
        before += sample.len();
        after += small.len();
    }
    after.saturating_mul(10) <= before.saturating_mul(9)
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
        assert!(worth_it(&vec![0; 1 << 20]));
        assert!(!worth_it(&noise));
        assert!(!worth_it(&[0; 100]));
        assert!(!worth_it(&[]));
    }
}
