//! No file of the knowledge base is forgotten.

use std::path::Path;

#[test]
fn every_file_of_the_folder_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/knowledge");
    let reader = std::fs::read_to_string(folder.join("mod.rs")).expect("the reader");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder").flatten() {
        let name = entry.file_name().into_string().expect("a plain name");
        if name.ends_with(".toml") {
            count += 1;
            assert!(reader.contains(&format!("include_str!(\"{name}\")")), "{name} is not read");
        }
    }
    assert!(count >= 10, "{count} files");
}
