//! Mutated files of `testdata/`: the properties that hold for every input, Python or not.
//!
//! `cargo test` tries a few hundred; `make fuzz` tries for `FUZZ_SECONDS`. A failing input is written to
//! `compiler/tests/found/`, and everything there is tried first, always.

use florc::emit::undo;
use florc::source::decode;
use florc::{Options, Source, instrument};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How many inputs without `FUZZ_SECONDS`.
const FEW: usize = 400;

/// What is put into a file: what has a meaning to the lexer, and what the grammar knows in two spellings.
const PIECES: &[&str] = &[
    "\n",
    "\r",
    "\r\n",
    "\x0c",
    "\t",
    "    ",
    "\\\n",
    " \\\r\n\t",
    "#",
    ";",
    ":",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "{{",
    "}}",
    "'",
    "\"",
    "'''",
    "\"\"\"",
    "f'",
    "f\"{",
    "}\"",
    "rf'''{",
    "t\"{x}\"",
    "b'",
    "\\",
    "\\N{",
    "\\x4",
    "!r",
    ":>{w}",
    "=",
    ":=",
    "==",
    "->",
    "...",
    "*",
    "**",
    "@",
    "lambda x: ",
    "match x:\n    case y: pass\n",
    "case ",
    "type X = ",
    "type X[T = int] = T\n",
    "def f[T](a): pass\n",
    "except A, B:\n",
    "try:\n",
    "finally: pass\n",
    "for x in y:\n",
    "while z:\n",
    "    net.step()\n",
    "if a: b\n",
    "else: c\n",
    "global g\n",
    "return\n",
    "yield ",
    "await ",
    "async ",
    "del x\n",
    "é",
    "日",
    "\u{feff}",
    "\u{a0}",
    "\0",
    "0x",
    "1_0",
    "1e5j",
    "not ",
    "import florc as _florc\n",
    "_florc",
    "from __future__ import a\n",
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (limit.max(1) as u64)).unwrap_or(0)
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            out.push(path);
        }
    }
    out.sort();
}

fn texts(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    files(folder, &mut found);
    found.iter().filter_map(|path| decode(&fs::read(path).ok()?).ok()).collect()
}

fn place(text: &str, random: &mut Random) -> usize {
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn mutated(seeds: &[String], random: &mut Random) -> String {
    let mut text = seeds[random.below(seeds.len())].clone();
    // Short inputs fail in ways that are understood.
    let start = place(&text, random);
    let window = 200 + random.below(1500);
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let mut end = (line + window).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text = text[line..end].to_owned();
    for _ in 0..=random.below(4) {
        let (a, b) = (place(&text, random), place(&text, random));
        let (a, b) = (a.min(b), a.max(b));
        match random.below(5) {
            0 => text.replace_range(a..b.min(floor(&text, a + 12)), ""),
            1 => {
                let piece = text[a..b.min(floor(&text, a + 80)).max(a)].to_owned();
                text.insert_str(a, &piece);
            }
            2 => {
                let other = &seeds[random.below(seeds.len())];
                let from = place(other, random);
                text.insert_str(a, &other[from..floor(other, from + 60)]);
            }
            _ => text.insert_str(a, PIECES[random.below(PIECES.len())]),
        }
    }
    text
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The properties; an error says which does not hold.
fn check(text: &str) -> Result<(), String> {
    let source = Source::new("mutated.py", text);
    let first = match instrument(&source, &Options::default()) {
        Ok(done) => done,
        Err(diagnostic) => {
            let range = diagnostic.range;
            let good = range.start <= range.end && range.start <= source.text.len();
            let shown = diagnostic.render(&source);
            return if good && shown.contains(" = help: ") { Ok(()) } else { Err(format!("bad place: {range:?}")) };
        }
    };
    let emitted = &first.emitted;
    if undo(emitted) != source.text {
        return Err("the insertions cannot be taken out".to_owned());
    }
    if !emitted.edits.is_sorted_by_key(|edit| edit.offset) {
        return Err("the insertions are not sorted".to_owned());
    }
    let again = instrument(&source, &Options::default()).map_err(|_| "not the same twice".to_owned())?;
    if again.emitted.text != emitted.text {
        return Err("the same input gives other bytes".to_owned());
    }
    let twice = Source::new("twice.py", emitted.text.clone());
    match instrument(&twice, &Options::default()) {
        Err(diagnostic) => Err(format!("what is emitted is no Python:\n{}", diagnostic.render(&twice))),
        Ok(done) if !emitted.edits.is_empty() && done.emitted.text != emitted.text => {
            Err("instrumenting twice changes something".to_owned())
        }
        Ok(_) => Ok(()),
    }
}

/// `check`, with a panic as one more way to fail.
fn holds(text: &str) -> Result<(), String> {
    std::panic::catch_unwind(|| check(text)).unwrap_or_else(|_| Err("panic".to_owned()))
}

#[test]
fn properties() {
    let mut seeds = texts(&root().join("../testdata"));
    let found = root().join("tests/found");
    for text in texts(&found) {
        holds(&text).unwrap_or_else(|why| panic!("{why}:\n{text}"));
        seeds.push(text);
    }
    for text in &seeds {
        holds(text).unwrap_or_else(|why| panic!("{why}:\n{text}"));
    }
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let seed = std::env::var("FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_120);
    let (mut random, begin, mut tried) = (Random(seed), Instant::now(), 0_usize);
    let mut failures = 0;
    loop {
        let done = match seconds {
            Some(seconds) => begin.elapsed() >= Duration::from_secs(seconds),
            None => tried >= FEW,
        };
        if done {
            break;
        }
        tried += 1;
        let text = mutated(&seeds, &mut random);
        if let Err(why) = holds(&text) {
            failures += 1;
            let name = found.join(format!("{seed}-{tried}.py"));
            let kept = fs::create_dir_all(&found).and_then(|()| fs::write(&name, &text));
            eprintln!("{} ({kept:?}): {why}", name.display());
            if failures >= 10 {
                break;
            }
        }
    }
    eprintln!("{tried} inputs, {failures} failures");
    assert_eq!(failures, 0, "inputs are kept in {}", found.display());
}
