use super::*;

#[test]
fn creating_twice_opens_the_same_store() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a/.florc");
    let store = Store::create(&root).unwrap();
    Store::create(&root).unwrap();
    assert_eq!(fs::read_to_string(root.join(".gitignore")).unwrap(), "*\n");
    assert!(store.packs().is_dir() && root.join("runs").is_dir());
    assert!(MARKER.contains(&FORMAT.to_string()));
    let left: Vec<_> = fs::read_dir(&root).unwrap().collect();
    assert_eq!(left.len(), 4, "no temporary file is left: {left:?}");
}

#[test]
fn a_newer_format_is_refused_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    Store::create(dir.path()).unwrap();
    fs::write(dir.path().join("store.json"), "{\"format\": 2}").unwrap();
    let said = Store::open(dir.path()).unwrap_err().to_string();
    assert!(said.contains("has format 2") && said.contains("upgrade florc"), "{said}");
    for odd in ["", "[]", "{\"format\": -1}", "{\"format\": 0}", "{\"format\": \"1\"}"] {
        fs::write(dir.path().join("store.json"), odd).unwrap();
        let error = Store::open(dir.path()).unwrap_err();
        assert!(matches!(error, StoreError::NotAStore { .. }) && error.to_string().contains(MARKER), "{odd}: {error}");
    }
}

#[test]
fn no_name_leaves_the_store() {
    for name in ["", ".", "..", "a/b", "/a", "a\\b", "a b", "a\0", ".a", "a/replays/..", "é", &"a".repeat(129)] {
        assert!(RunId::new(name).is_err(), "{name:?}");
    }
    assert_eq!(RunId::new("20260101-101010-abc123").unwrap().pack_prefix(3), "20260101-101010-abc123-3-");
    assert_eq!(RunId::new("a/replays/b").unwrap().pack_prefix(0), "a~b-0-");
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path()).unwrap();
    for path in ["", "/etc/passwd", "../x", "runs/../../x", "runs/./../.."] {
        assert!(store.inside(path).is_err(), "{path:?}");
    }
    std::os::unix::fs::symlink(dir.path(), dir.path().join("runs/link")).unwrap();
    assert!(store.inside("runs/link/x").is_err());
    assert!(store.inside("runs/a/source/train.py").is_ok());
}
