use std::fs;
use std::path::{Path, PathBuf};

use super::*;

const KEY: Option<&Key> = Some(&[7; 32]);

fn sample(dir: &Path, records: usize) -> PathBuf {
    let path = dir.join("journal.0");
    let mut writer = JournalWriter::open(&path, KEY, |_| {}).unwrap();
    for number in 0..records {
        writer.append("log", &format!("{{\"loss\": {number}, \"text\": \"é\"}}")).unwrap();
    }
    writer.sync().unwrap();
    path
}

fn read(bytes: &[u8]) -> (Vec<Record>, End) {
    let mut journal = Journal::new(bytes, bytes.len() as u64, Path::new("journal"), KEY).unwrap();
    let mut records = Vec::new();
    while let Some(record) = journal.next_record().unwrap() {
        records.push(record);
    }
    (records, journal.end().unwrap().clone())
}

#[test]
fn records_come_back_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (records, end) = read(&fs::read(sample(dir.path(), 500)).unwrap());
    assert_eq!(end, End::Whole);
    assert_eq!(records.len(), 500);
    assert_eq!(records[7], Record { kind: "log".into(), payload: "{\"loss\": 7, \"text\": \"é\"}".into() });
}

#[test]
fn a_tail_torn_at_any_byte_keeps_the_whole_records() {
    let dir = tempfile::tempdir().unwrap();
    let path = sample(dir.path(), 4);
    let whole = fs::read(&path).unwrap();
    let (all, _) = read(&whole);
    for len in 0..whole.len() {
        let (records, end) = read(&whole[..len]);
        assert_eq!(records[..], all[..records.len()]);
        assert!(matches!(end, End::Torn { .. } | End::Whole), "{len}: {end:?}");
        // what is appended after the cut follows the whole records
        fs::write(&path, &whole[..len]).unwrap();
        let mut writer = JournalWriter::open(&path, KEY, |_| {}).unwrap();
        assert_eq!(writer.records(), records.len() as u64);
        writer.append("end", "{}").unwrap();
        writer.sync().unwrap();
        drop(writer);
        let (again, end) = read(&fs::read(&path).unwrap());
        assert_eq!((again.len(), end), (records.len() + 1, End::Whole), "cut at {len}");
        assert_eq!(again[records.len()].kind, "end");
    }
}

#[test]
fn a_tail_of_zeros_is_torn() {
    let dir = tempfile::tempdir().unwrap();
    let whole = fs::read(sample(dir.path(), 3)).unwrap();
    let (all, _) = read(&whole);
    for len in 0..whole.len() {
        let mut bytes = whole[..len].to_vec();
        bytes.resize(whole.len() + 300, 0);
        match Journal::new(&bytes[..], bytes.len() as u64, Path::new("j"), KEY) {
            // a header cut within its magic
            Ok(_) if len < 9 => {}
            Ok(_) => {
                let (records, _) = read(&bytes);
                assert_eq!(records[..], all[..records.len()], "{len}");
            }
            Err(error) => panic!("{len}: {error}"),
        }
    }
    let mut bytes = whole.clone();
    bytes.resize(whole.len() + 5000, 0);
    assert!(matches!(read(&bytes).1, End::Torn { .. }));
}

#[test]
fn every_changed_byte_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = sample(dir.path(), 40);
    let whole = fs::read(&path).unwrap();
    let (all, _) = read(&whole);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut damaged = 0;
    for _ in 0..2000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut bytes = whole.clone();
        let at = (random >> 33) as usize % bytes.len();
        bytes[at] ^= 1 << ((random >> 20) & 7);
        let Ok(mut journal) = Journal::new(&bytes[..], bytes.len() as u64, Path::new("j"), KEY) else {
            continue; // a version that does not exist
        };
        let mut records = Vec::new();
        while let Some(record) = journal.next_record().unwrap() {
            records.push(record);
        }
        assert!(records.len() < all.len() && records[..] == all[..records.len()]);
        match journal.end().unwrap() {
            End::Damaged { .. } => damaged += 1,
            // only the last record can look unfinished
            End::Torn { .. } => assert_eq!(records.len(), all.len() - 1),
            End::Whole => panic!("a change at {at} went unnoticed"),
        }
    }
    assert!(damaged > 1800, "{damaged}");
}

#[test]
fn damage_is_never_cut_off_and_a_second_writer_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = sample(dir.path(), 3);
    let writer = JournalWriter::open(&path, KEY, |_| {}).unwrap();
    let said = JournalWriter::open(&path, KEY, |_| {}).unwrap_err().to_string();
    assert!(said.contains("another process"), "{said}");
    drop(writer);
    let mut bytes = fs::read(&path).unwrap();
    bytes[40] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let said = JournalWriter::open(&path, KEY, |_| {}).unwrap_err().to_string();
    assert!(said.contains("the record at byte 16") && said.contains("does not match"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_newer_version_is_refused() {
    let mut bytes = header(VERSION);
    bytes[8] = 3;
    let said = Journal::new(&bytes[..], 16, Path::new("j"), KEY).unwrap_err().to_string();
    assert!(said.contains("format 3"), "{said}");
}

#[test]
fn lengths_are_checked_before_memory_is_taken() {
    let mut bytes = header(VERSION).to_vec();
    let lengths = [3u8, 0xff, 0xff, 0xff, 0xff];
    bytes.extend_from_slice(&lengths);
    bytes.extend_from_slice(&check_of(&first_chain(VERSION), &lengths));
    bytes.extend_from_slice(&[1; 64]);
    assert!(matches!(read(&bytes).1, End::Torn { offset: 16, .. }));
}

#[test]
fn only_who_has_the_key_can_seal() {
    let dir = tempfile::tempdir().unwrap();
    let path = sample(dir.path(), 3);
    let sealed = |key: Option<&Key>| {
        let mut journal = Journal::open(&path, key).unwrap();
        while journal.next_record().unwrap().is_some() {}
        assert_eq!(journal.end(), Some(&End::Whole), "the chain is for anyone to check");
        journal.is_sealed()
    };
    assert!(sealed(KEY) && !sealed(None) && !sealed(Some(&[8; 32])));
    let mut again = JournalWriter::open(&path, KEY, |_| {}).unwrap();
    again.append("log", "{}").unwrap();
    again.sync().unwrap();
    drop(again);
    assert!(sealed(KEY), "a journal is gone on with");
    let mut other = JournalWriter::open(&path, Some(&[8; 32]), |_| {}).unwrap();
    other.append("log", "{}").unwrap();
    other.sync().unwrap();
    drop(other);
    assert!(!sealed(KEY) && !sealed(Some(&[8; 32])), "each record counts");
}

#[test]
fn journals_of_version_1_are_read_and_sealed_by_nobody() {
    let mut bytes = header(1).to_vec();
    let (lengths, body) = ([3u8, 2, 0, 0, 0], b"log{}");
    bytes.extend_from_slice(&lengths);
    bytes.extend_from_slice(&check_of(&first_chain(1), &lengths));
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(&next_chain(&first_chain(1), &lengths, body));
    let mut journal = Journal::new(&bytes[..], bytes.len() as u64, Path::new("j"), KEY).unwrap();
    let record = journal.next_record().unwrap().unwrap();
    assert_eq!((record.kind.as_str(), record.payload.as_str()), ("log", "{}"));
    assert!(journal.next_record().unwrap().is_none() && journal.end() == Some(&End::Whole));
    assert!(journal.version() == 1 && !journal.is_sealed());
}
