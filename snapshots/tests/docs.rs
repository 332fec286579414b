//! The answers in docs/instrumentation.md, and the first of docs/extending.md, are what florc says of the examples.
//!
//! `UPDATE_DOCS=1 cargo test -p florc-snapshots --test docs` writes them anew.

use florc::plan::to_text;
use florc::{Options, Source, instrument};
use std::path::Path;

#[test]
fn examples_of_the_page_on_instrumentation() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/instrumentation.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let now = answered(&page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &now).expect("the page is written");
    }
    assert!(page == now, "docs/instrumentation.md is not what florc says; UPDATE_DOCS=1 writes it anew");
}

/// The page with every answer (a block marked `text` or `instrumented`) replaced by what florc says of the example before.
fn answered(page: &str) -> String {
    let mut out = String::new();
    let mut example = String::new();
    let mut parts = page.split("```");
    out += parts.next().unwrap_or("");
    while let (Some(block), Some(between)) = (parts.next(), parts.next()) {
        let (kind, body) = block.split_once('\n').unwrap_or((block, ""));
        let body = match kind {
            "python" => {
                body.clone_into(&mut example);
                body.to_owned()
            }
            "text" => said(&example).0,
            "instrumented" => said(&example).1,
            _ => body.to_owned(),
        };
        out += &format!("```{kind}\n{body}```{between}");
    }
    out
}

/// The plan of an example, and its instrumented text.
fn said(example: &str) -> (String, String) {
    let source = Source::new("train.py", example);
    let done =
        instrument(&source, &Options::default()).unwrap_or_else(|diagnostic| panic!("{}", diagnostic.render(&source)));
    (to_text(&source, &done.plan), done.emitted.text)
}

#[test]
fn what_is_assumed_of_a_library_that_is_not_known() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/extending.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let example = page.split("```python\n").find(|block| block.contains("import lumen")).expect("the example");
    let example = example.split("```").next().unwrap_or_default();
    let shown = page.split("    $ florc plan ").nth(1).expect("the command");
    let shown: String = shown
        .lines()
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with("    "))
        .fold(String::new(), |out, line| out + line.strip_prefix("    ").unwrap_or_default() + "\n");
    let said = said(example).0.replacen("train.py", "testdata/calls/lumen_statistics.py", 1);
    assert_eq!(shown.trim_end(), said.trim_end());
}
