use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::store::error::StoreError;

fn chunks() -> Vec<Vec<u8>> {
    let noise = (0u64..400).flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes()).collect();
    vec![noise, vec![7; 200_000], Vec::new(), b"short".to_vec(), (0..30_000u32).map(|n| (n / 50) as u8).collect()]
}

fn sample(dir: &Path) -> PathBuf {
    let mut writer = PackWriter::create(dir, "run-0-0.pack", 0).unwrap();
    for chunk in chunks() {
        writer.add(ChunkHash::of(&chunk), &chunk).unwrap();
    }
    let Written { pack, bytes: size, .. } = writer.finish().unwrap();
    assert_eq!(fs::metadata(pack.path()).unwrap().len(), size);
    pack.path().to_path_buf()
}

/// Every chunk, or the first failure.
fn read_all(path: &Path) -> Result<Vec<Vec<u8>>, StoreError> {
    let pack = Pack::open(path)?;
    let mut all = Vec::new();
    for entry in pack.entries() {
        let mut bytes = vec![0; entry.raw_len as usize];
        pack.read(entry, &mut bytes)?;
        all.push(bytes);
    }
    Ok(all)
}

#[test]
fn chunks_come_back_and_only_what_shrinks_is_compressed() {
    let dir = tempfile::tempdir().unwrap();
    let path = sample(dir.path());
    assert_eq!(read_all(&path).unwrap(), chunks());
    let codecs: Vec<Codec> = Pack::open(&path).unwrap().entries().iter().map(|entry| entry.codec).collect();
    assert_eq!(codecs, [Codec::Raw, Codec::Zstd, Codec::Raw, Codec::Raw, Codec::Zstd]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    assert!(PackWriter::create(dir.path(), "run-0-0.pack", 0).is_err(), "a pack is never written over");
}

#[test]
fn an_unfinished_pack_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = PackWriter::create(dir.path(), "a.pack", 0).unwrap();
    writer.add(ChunkHash::of(b"x"), b"x").unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn every_changed_byte_is_noticed_or_harmless() {
    let dir = tempfile::tempdir().unwrap();
    let path = sample(dir.path());
    let whole = fs::read(&path).unwrap();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut noticed = 0;
    for _ in 0..2000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut bytes = whole.clone();
        let at = (random >> 33) as usize % bytes.len();
        bytes[at] ^= 1 << ((random >> 20) & 7);
        fs::write(&path, &bytes).unwrap();
        match read_all(&path) {
            Ok(all) => assert_eq!(all, chunks(), "a change at {at} changed a chunk"),
            Err(_) => noticed += 1,
        }
    }
    assert!(noticed > 1900, "{noticed}");
}

#[test]
fn a_pack_cut_anywhere_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = sample(dir.path());
    let whole = fs::read(&path).unwrap();
    for len in (0..whole.len()).step_by(7) {
        fs::write(&path, &whole[..len]).unwrap();
        assert!(Pack::open(&path).is_err(), "{len}");
    }
}

#[test]
fn forged_lengths_are_refused_before_memory_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("forged.pack");
    let honest = Entry { hash: ChunkHash::of(b""), offset: 16, stored_len: 8, raw_len: 8, codec: Codec::Raw };
    let forged = [
        Entry { raw_len: 1 << 60, codec: Codec::Zstd, ..honest },
        Entry { raw_len: 9, ..honest },
        Entry { offset: 0, ..honest },
        Entry { offset: u64::MAX - 3, ..honest },
        Entry { stored_len: 1 << 50, raw_len: 1 << 50, ..honest },
    ];
    for entry in forged {
        let mut index = Vec::new();
        entry.encode(&mut index);
        let mut bytes = header().to_vec();
        bytes.extend_from_slice(&[1; 8]);
        bytes.extend_from_slice(&index);
        bytes.extend_from_slice(&(index.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&index_hash(&index));
        bytes.extend_from_slice(END);
        fs::write(&path, &bytes).unwrap();
        let said = Pack::open(&path).unwrap_err().to_string();
        assert!(said.contains("not in the pack"), "{said}");
    }
}

#[test]
fn no_pack_is_larger_than_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let noise = chunks().swap_remove(0); // it does not shrink
    for count in [0, 1, 7] {
        let mut writer = PackWriter::create(dir.path(), &format!("{count}.pack"), 0).unwrap();
        for number in 0..count {
            writer.add(ChunkHash::of(&noise[number..]), &noise[number..]).unwrap();
        }
        let size = writer.finish().unwrap().bytes;
        let total: usize = (0..count).map(|number| noise.len() - number).sum();
        assert_eq!(size, most_packed(total as u64, count as u64));
    }
}
