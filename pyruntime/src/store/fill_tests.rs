use super::super::index::Index;
use super::super::pack::PackWriter;
use super::*;
use std::os::unix::fs::FileExt;

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len.div_ceil(32) as u64)
        .flat_map(|n| *blake3::hash(&(n ^ (seed << 40)).to_le_bytes()).as_bytes())
        .collect();
    bytes.truncate(len);
    bytes
}

fn store(chunks: &[Vec<u8>]) -> (tempfile::TempDir, Index) {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = PackWriter::create(dir.path(), "a.pack", 0).unwrap();
    for chunk in chunks {
        writer.add(ChunkHash::of(chunk), chunk).unwrap();
    }
    writer.finish().unwrap();
    let index = Index::open(dir.path()).unwrap();
    (dir, index)
}

fn wanted<'a>(index: &Index, chunk: &[u8], memory: Option<&'a mut [u8]>, may_be_there: bool) -> Wanted<'a> {
    let hash = ChunkHash::of(chunk);
    Wanted { hash, places: index.places(&hash), memory, may_be_there }
}

#[test]
fn chunks_of_every_length_reach_their_place() {
    let lens =
        [1, 1023, 1024, 1025, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE, 3 * PIECE + 5, 9 * PIECE + 1025];
    let mut chunks: Vec<Vec<u8>> = lens.iter().enumerate().map(|(seed, len)| noise(*len, seed as u64)).collect();
    chunks.push(vec![0; 5 * PIECE]);
    let (_dir, index) = store(&chunks);
    let mut memory: Vec<Vec<u8>> = chunks.iter().map(|chunk| vec![7; chunk.len()]).collect();
    let all = chunks.iter().zip(&mut memory).map(|(chunk, memory)| wanted(&index, chunk, Some(memory), true)).collect();
    let bytes = chunks.iter().map(|chunk| chunk.len() as u64).sum();
    assert_eq!(fill(all).unwrap(), Done { chunks: 12, bytes, equal: 0 });
    assert!(memory == chunks);
    let all = chunks.iter().zip(&mut memory).map(|(chunk, memory)| wanted(&index, chunk, Some(memory), true)).collect();
    assert_eq!(fill(all).unwrap(), Done { chunks: 0, bytes: 0, equal: 12 });
    let all = chunks.iter().map(|chunk| wanted(&index, chunk, None, false)).collect();
    assert_eq!(fill(all).unwrap().chunks, 12);
}

#[test]
fn a_changed_byte_is_an_error_wherever_it_is() {
    let chunk = noise(3 * PIECE + 77, 1);
    for at in [0, PIECE, 3 * PIECE + 76] {
        let (dir, index) = store(std::slice::from_ref(&chunk));
        let file = File::options().write(true).open(dir.path().join("a.pack")).unwrap();
        file.write_all_at(&[chunk[at] ^ 1], 16 + at as u64).unwrap();
        let mut memory = vec![0; chunk.len()];
        let told = fill(vec![wanted(&index, &chunk, Some(&mut memory), false)]).unwrap_err().to_string();
        assert!(told.contains("damaged") && told.contains("a.pack"), "{told}");
        assert!(fill(vec![wanted(&index, &chunk, None, false)]).is_err());
        // a second pack holds it
        let mut writer = PackWriter::create(dir.path(), "b.pack", 0).unwrap();
        writer.add(ChunkHash::of(&chunk), &chunk).unwrap();
        writer.finish().unwrap();
        let index = Index::open(dir.path()).unwrap();
        fill(vec![wanted(&index, &chunk, Some(&mut memory), false)]).unwrap();
        assert!(memory == chunk);
    }
}

#[test]
fn a_file_that_ends_early_is_an_error() {
    let chunk = noise(2 * PIECE, 3);
    let (dir, index) = store(std::slice::from_ref(&chunk));
    let file = File::options().write(true).open(dir.path().join("a.pack")).unwrap();
    file.set_len(PIECE as u64).unwrap();
    let mut memory = vec![0; chunk.len()];
    assert!(fill(vec![wanted(&index, &chunk, Some(&mut memory), false)]).is_err());
    assert!(!index.places(&ChunkHash::of(&chunk))[0].pack.reaches(&index.places(&ChunkHash::of(&chunk))[0].entry));
}
