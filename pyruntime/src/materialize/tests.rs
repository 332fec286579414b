use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use super::staged::Part;
use super::*;
use crate::store::index::Index;
use crate::store::journal::{End, Journal, Record};
use crate::store::layout::{RunId, Store};
use crate::store::{ChunkHash, durable};

const LONG: Duration = Duration::from_secs(60);

fn recorder(root: &Path, engine: Engine, max_staging: usize) -> Recorder {
    let store = Store::create(root).unwrap();
    Recorder::start(
        &store,
        &RunId::new("run").unwrap(),
        0,
        Options { max_staging, most: 0, engine, key: None, shares: true },
    )
    .unwrap()
}

fn submit(recorder: &Recorder, parts: &[&[u8]]) -> Option<Receipt> {
    let parts: Vec<Part> = parts.iter().map(|part| Part::of(part)).collect();
    // SAFETY: the parts live as long as the call
    unsafe { recorder.submit("{\"block\": 1}", &parts) }
}

fn records(root: &Path) -> Vec<Record> {
    let mut journal: Journal<BufReader<_>> = Journal::open(&root.join("runs/run/journal.0"), None).unwrap();
    let mut records = Vec::new();
    while let Some(record) = journal.next_record().unwrap() {
        records.push(record);
    }
    assert_eq!(journal.end(), Some(&End::Whole));
    records
}

fn chunks(root: &Path, record: &Record) -> Vec<Vec<u8>> {
    let index = Index::open(&root.join("packs")).unwrap();
    let fields: BTreeMap<String, serde_json::Value> = serde_json::from_str(&record.payload).unwrap();
    let mut chunks = Vec::new();
    for chunk in fields["chunks"].as_array().unwrap() {
        let hash = ChunkHash::parse(chunk["hash"].as_str().unwrap()).unwrap();
        let place = &index.places(&hash)[0];
        let mut bytes = vec![0; chunk["len"].as_u64().unwrap() as usize];
        place.pack.read(&place.entry, &mut bytes).unwrap();
        chunks.push(bytes);
    }
    chunks
}

// Engine::Writer needs a process with one thread, which a test runner is not; the Python tests
// cover it.
#[test]
fn what_arrives_in_pieces_can_be_read() {
    let noise: Vec<u8> = (0u64..90_000).flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes()).collect();
    let large: Vec<u8> = noise.iter().copied().cycle().take(45 << 20).collect();
    for engine in [Engine::Writer, Engine::Thread] {
        let dir = tempfile::tempdir().unwrap();
        let recorder = recorder(dir.path(), engine, 20 << 20);
        // within a piece, over two, over many, empty, and twice the same
        let states: [&[&[u8]]; 3] = [
            &[b"graph", &noise, &large[..11 << 20], b"", &large, &noise, &large[3..9 << 20], b""],
            &[b"graph", &large],
            &[b"", b"only small", &noise[1..]],
        ];
        for (number, state) in states.iter().enumerate() {
            let parts: Vec<Part> = state.iter().map(|part| Part::of(part)).collect();
            // SAFETY: the parts live as long as the call
            let receipt = unsafe { recorder.submit_in_pieces("{\"block\": 1}", &parts, |_, _| false) }.unwrap();
            assert_eq!(receipt.seq, number as u64);
        }
        assert_eq!(submit(&recorder, &[b"whole"]).unwrap().seq, 3);
        let totals = recorder.close(LONG, || true).unwrap();
        assert!(totals.drained && totals.errors.is_empty() && totals.checkpoints == 4, "{totals:?}");
        let checkpoints: Vec<Record> =
            records(dir.path()).into_iter().filter(|record| record.kind == "checkpoint").collect();
        for (record, state) in checkpoints.iter().zip(states) {
            assert!(chunks(dir.path(), record) == state);
        }
        assert_eq!(chunks(dir.path(), &checkpoints[3]), [b"whole"]);
    }
}

#[test]
fn a_part_in_pieces_that_the_store_has_is_not_written_again() {
    let large: Vec<u8> = (0u64..900_000).flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes()).collect();
    let (mut changed, mut in_the_middle) = (large.clone(), large.clone());
    changed.iter_mut().for_each(|byte| *byte ^= 1);
    in_the_middle[5001] ^= 1;
    for engine in [Engine::Writer, Engine::Thread] {
        let dir = tempfile::tempdir().unwrap();
        // aligned and not, so that an empty part may lie where a part ends
        let states: [&[&[u8]]; 6] = [
            &[b"graph", &large, b"", &large[..27 << 20], b""],
            &[b"other", &large, b"", &changed, &large[..27 << 20], b"", b"end"],
            &[b"third", &in_the_middle, &changed, &large[..27 << 20], b""],
            &[b"graph", &large],
            &[b"graph", b"", &large[..27 << 20]],
            &[b"graph", &large, &large[1..]],
        ];
        let mut written = Vec::new();
        for run in ["run", "later"] {
            let store = Store::create(dir.path()).unwrap();
            let options = Options { max_staging: 20 << 20, most: 0, engine, key: None, shares: true };
            let recorder = Recorder::start(&store, &RunId::new(run).unwrap(), 0, options).unwrap();
            for state in states {
                let parts: Vec<Part> = state.iter().map(|part| Part::of(part)).collect();
                // SAFETY: the parts live as long as the call
                let receipt = unsafe { recorder.submit_in_pieces("{\"block\": 1}", &parts, |_, _| false) }.unwrap();
                let done = loop {
                    if let Some(done) = recorder.poll().pop() {
                        break done;
                    }
                    std::thread::yield_now();
                };
                assert_eq!((done.seq, done.error), (receipt.seq, None));
                written.push(done.bytes_written >> 20);
                let record = records(dir.path()).into_iter().rfind(|record| record.kind == "checkpoint").unwrap();
                assert!(run == "later" || chunks(dir.path(), &record) == state);
            }
            assert!(recorder.close(LONG, || true).unwrap().errors.is_empty());
        }
        // what is new of each; in a later run, what its first checkpoint does not have counts as new
        assert_eq!(written, [54, 27, 27, 0, 0, 27, 0, 27, 0, 0, 0, 27], "{engine:?}");
    }
}

#[test]
fn a_piece_fits_into_the_usual_memory() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path()).unwrap();
    let options = Options { max_staging: 20 << 20, most: 60 << 20, engine: Engine::Thread, key: None, shares: true };
    let recorder = Recorder::start(&store, &RunId::new("run").unwrap(), 0, options).unwrap();
    // more than the usual memory, less than half of what one checkpoint may take as a whole
    let part = vec![7; 25 << 20];
    // SAFETY: the part lives as long as the call
    assert!(unsafe { recorder.submit_in_pieces("{}", &[Part::of(&part)], |_, _| false) }.is_some());
    assert_eq!(recorder.close(LONG, || true).unwrap().checkpoints, 1);
}

#[test]
fn what_is_submitted_can_be_read() {
    for engine in [Engine::Writer, Engine::Thread, Engine::Inline] {
        let dir = tempfile::tempdir().unwrap();
        let recorder = recorder(dir.path(), engine, 1 << 20);
        recorder.log("log", "{\"a\": 1}");
        assert_eq!(submit(&recorder, &[b"graph", &[5; 5000], b""]).unwrap().seq, 0);
        recorder.log("log", "{\"a\": 2}");
        assert_eq!(submit(&recorder, &[b"other", &[5; 5000]]).unwrap().seq, 1);
        let totals = recorder.close(LONG, || true).unwrap();
        assert_eq!((totals.checkpoints, totals.logs, totals.logs_lost, totals.drained), (2, 2, 0, true));
        assert!(totals.errors.is_empty() && recorder.dead().is_none(), "{totals:?}");
        assert_eq!(recorder.poll().len(), 2);
        assert_eq!(recorder.close(LONG, || true).unwrap(), totals);
        assert!(submit(&recorder, &[b"late"]).is_none());
        let records = records(dir.path());
        let kinds: Vec<&str> = records.iter().map(|record| record.kind.as_str()).collect();
        assert_eq!(kinds, ["log", "checkpoint", "log", "checkpoint"]);
        assert_eq!(chunks(dir.path(), &records[1]), [&b"graph"[..], &[5; 5000], b""]);
        assert_eq!(chunks(dir.path(), &records[3]), [&b"other"[..], &[5; 5000]]);
    }
}

#[test]
fn equal_content_is_stored_once_across_recorders() {
    let dir = tempfile::tempdir().unwrap();
    let noise: Vec<u8> = (0u64..4000).flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes()).collect();
    let first = recorder(dir.path(), Engine::Inline, 1 << 20);
    submit(&first, &[b"graph", &noise, &noise]).unwrap();
    let written = first.close(LONG, || true).unwrap().bytes_written;
    assert!((128_000..130_000).contains(&written), "{written}");
    let second = recorder(dir.path(), Engine::Thread, 1 << 20);
    assert_eq!(submit(&second, &[b"graph", &noise]).unwrap().seq, 1, "numbers go on");
    assert_eq!(second.close(LONG, || true).unwrap().bytes_written, 0);
    assert_eq!(chunks(dir.path(), &records(dir.path())[1]), [&b"graph"[..], &noise]);
}

#[test]
fn what_a_killed_writer_left_is_removed_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    recorder(dir.path(), Engine::Inline, 1 << 16).close(LONG, || true);
    let packs = dir.path().join("packs");
    let ours = packs.join(".run-0-3.pack.77-0.tmp");
    let others = packs.join(".run-0-other-0-3.pack.77-0.tmp");
    std::fs::write(&ours, b"half").unwrap();
    std::fs::write(&others, b"half").unwrap();
    std::fs::write(packs.join("run-0-7.pack"), b"damaged").unwrap();
    let recorder = recorder(dir.path(), Engine::Inline, 1 << 16);
    assert!(!ours.exists() && others.exists());
    submit(&recorder, &[b"graph"]).unwrap();
    assert!(packs.join("run-0-8.pack").exists());
}

#[test]
fn no_room_is_no_error_and_room_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = recorder(dir.path(), Engine::Thread, 1 << 16);
    assert!(submit(&recorder, &[&[1; 1 << 16]]).is_none());
    let mut staged = 0;
    for number in 0..2000u32 {
        staged += u64::from(submit(&recorder, &[&number.to_le_bytes(), &[0; 9000]]).is_some());
    }
    let totals = recorder.close(LONG, || true).unwrap();
    assert_eq!(totals.checkpoints, staged);
    assert!((7..2000).contains(&staged), "{staged}");
}

#[test]
fn a_bad_header_costs_one_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = recorder(dir.path(), Engine::Thread, 1 << 16);
    // SAFETY: the part is a constant
    unsafe { recorder.submit("{\"a\": NaN}", &[Part::of(b"graph")]) }.unwrap();
    submit(&recorder, &[b"graph"]).unwrap();
    let totals = recorder.close(LONG, || true).unwrap();
    assert_eq!((totals.checkpoints, totals.errors.len()), (1, 1));
    assert!(totals.errors[0].contains("no JSON object"), "{:?}", totals.errors);
}

#[test]
fn many_records_arrive_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = recorder(dir.path(), Engine::Thread, 1 << 16);
    let long = "x".repeat(300);
    for number in 0..20_000 {
        recorder.log("log", &format!("{number} {long}"));
    }
    assert_eq!(recorder.close(LONG, || true).unwrap().logs_lost, 0);
    let records = records(dir.path());
    assert_eq!(records.len(), 20_000);
    assert!(records.iter().enumerate().all(|(n, record)| record.payload.starts_with(&format!("{n} "))));
}

#[test]
fn an_unwritable_store_is_an_error_and_a_lost_folder_costs_checkpoints() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = recorder(dir.path(), Engine::Thread, 1 << 16);
    std::fs::remove_dir_all(dir.path().join("packs")).unwrap();
    submit(&recorder, &[b"graph"]).unwrap();
    while recorder.poll().is_empty() {
        std::thread::yield_now();
    }
    durable::create_dirs(&dir.path().join("packs")).unwrap();
    submit(&recorder, &[b"graph"]).unwrap();
    recorder.log("log", "{}");
    let totals = recorder.close(LONG, || true).unwrap();
    assert_eq!((totals.checkpoints, totals.logs_lost), (1, 0), "{totals:?}");
    assert_eq!(records(dir.path()).len(), 2);
}

#[test]
fn dropped_checkpoints_free_what_nothing_else_needs() {
    for engine in [Engine::Thread, Engine::Inline] {
        let dir = tempfile::tempdir().unwrap();
        let recorder = recorder(dir.path(), engine, 1 << 20);
        let noise: Vec<u8> = (0u64..4000).flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes()).collect();
        let (frozen, rest) = noise.split_at(30_000);
        for part in rest.chunks(30_000).take(3) {
            submit(&recorder, &[b"graph", frozen, part]).unwrap();
        }
        recorder.drop_checkpoints("{\"seqs\":[0,1]}");
        let totals = recorder.close(LONG, || true).unwrap();
        assert_eq!((totals.checkpoints, &totals.errors[..]), (3, &[][..]));
        let freed = recorder.freed();
        assert!(freed.len() == 1 && (30_000..31_000).contains(&freed[0]), "{freed:?}");
        // the first pack holds what the third checkpoint needs
        let packs = std::fs::read_dir(dir.path().join("packs")).unwrap().count();
        assert_eq!(packs, 2);
        let records = records(dir.path());
        assert_eq!(records.last().unwrap().kind, "dropped");
        assert_eq!(chunks(dir.path(), &records[2])[1], frozen);
    }
}

#[test]
fn nothing_is_removed_while_another_run_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let first = recorder(dir.path(), Engine::Inline, 1 << 20);
    submit(&first, &[b"graph", &[1; 100]]).unwrap();
    let store = Store::create(dir.path()).unwrap();
    let options = Options { max_staging: 1 << 20, most: 0, engine: Engine::Inline, key: None, shares: true };
    let other = Recorder::start(&store, &RunId::new("other").unwrap(), 0, options).unwrap();
    first.drop_checkpoints("{\"seqs\":[0]}");
    assert_eq!(first.freed(), [0]);
    submit(&other, &[b"graph"]).unwrap();
    other.close(LONG, || true).unwrap();
    first.drop_checkpoints("{\"seqs\":[0]}");
    // the other's checkpoint names the chunk that both have
    assert_eq!(first.freed(), [0]);
}
