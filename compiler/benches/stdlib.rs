//! The compiler over Python's standard library: file by file, in megabytes per second, stage by stage; then as one project whose
//! files are analysed together. At last, `florc plan` of a script of 1,000 lines. Run by `cargo bench`; `FLORC_CORPUS` names
//! another folder.

use florc::analysis::Analysis;
use florc::emit::emit;
use florc::project::{Found, follow};
use florc::source::decode;
use florc::syntax::File;
use florc::{Options, Source, plan_only, syntax};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a thread's processor has worked for it so far: other work of the machine takes its time, not its processor's. Where
/// Linux does not tell, the time of a clock.
fn worked() -> Duration {
    static BEGIN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGIN.elapsed(), Duration::from_nanos)
}

const ROUNDS: usize = 3;

fn main() {
    let Some(folder) = corpus() else {
        println!("no Python standard library found: set FLORC_CORPUS to a folder of Python files");
        return;
    };
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    paths.sort();
    let sources: Vec<Source> = paths.iter().filter_map(|path| read(path)).collect();
    let bytes: usize = sources.iter().map(|source| source.text.len()).sum();
    println!("{}: {} files, {:.1} MB", folder.display(), sources.len(), megabytes(bytes));
    let mut best = [Duration::MAX; 4];
    for _ in 0..ROUNDS {
        let round = syntax::on_deep_stack(syntax::DEEP_STACK, || stages(&sources));
        best.iter_mut().zip(round).for_each(|(best, now)| *best = (*best).min(now));
    }
    for (name, took) in ["parse", "analyse", "plan", "emit"].iter().zip(best) {
        println!("{name:8} {:8.2} MB/s", megabytes(bytes) / took.as_secs_f64());
    }
    let whole: Duration = best.iter().sum();
    println!("{:8} {:8.2} MB/s", "whole", megabytes(bytes) / whole.as_secs_f64());
    syntax::on_deep_stack(syntax::DEEP_STACK, || project(&folder, &sources));
    thousand_lines();
}

/// A script that imports every file, and all of them together.
fn project(folder: &Path, sources: &[Source]) {
    let found: BTreeMap<String, &Source> =
        sources.iter().filter_map(|source| Some((dotted(folder, &source.name)?, source))).collect();
    let text: String = found.keys().map(|name| format!("import {name}\n")).collect();
    let Ok(script) = File::script(Source::new("all.py", text), "") else { return };
    let begin = Instant::now();
    let codebase = follow(vec![script], &mut |dotted| match found.get(dotted) {
        Some(&source) => Found::File { source: source.clone(), is_package: source.name.ends_with("__init__.py") },
        None => Found::Foreign,
    });
    let read = begin.elapsed();
    let begin = worked();
    let analysis = Analysis::new(&codebase.files);
    let analysed = worked();
    std::hint::black_box(analysis.plans(&Options::default()));
    let size = megabytes(codebase.bytes());
    println!(
        "as one project, {} files, {size:.1} MB: parse {:.2} s (by the clock), analyse {:.2} s, plan {:.2} s",
        codebase.files.len(),
        read.as_secs_f64(),
        (analysed - begin).as_secs_f64(),
        (worked() - analysed).as_secs_f64()
    );
}

fn dotted(folder: &Path, path: &str) -> Option<String> {
    let inner = Path::new(path).strip_prefix(folder).ok()?.with_extension("");
    let parts: Vec<&str> = inner.iter().filter_map(|part| part.to_str()).collect();
    let parts = if let [package @ .., "__init__"] = parts.as_slice() { package } else { &parts };
    let is_name = |part: &&str| part.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    (!parts.is_empty() && parts.iter().all(is_name)).then(|| parts.join("."))
}

/// `florc plan` of 100 loops of ten lines each: in a process that has planned before, and as a process of its own.
fn thousand_lines() {
    let lines = |n: usize| {
        format!(
            "found{n} = []\ndef step{n}(x, by):\n    total = x * {n}\n    return total + by\nfor item{n} in values:\n    \
             y{n} = step{n}(item{n}, 2)\n    if y{n} > 3:\n        found{n}.append(y{n})\n    total += y{n}\nprint(total, found{n})\n"
        )
    };
    let text = format!("values = list(range(10))\ntotal = 0\n{}", (0..100).map(lines).collect::<String>());
    let source = Source::new("lines.py", text.as_str());
    let within = median(|| {
        syntax::on_deep_stack(syntax::DEEP_STACK, || {
            // Linux counts what a thread has worked at ticks of some ms: too coarse for one plan.
            let begin = Instant::now();
            let _ = std::hint::black_box(plan_only(&source, &Options::default()));
            begin.elapsed()
        })
    });
    let path = std::env::temp_dir().join(format!("florc-bench-{}.py", std::process::id()));
    if std::fs::write(&path, &text).is_err() {
        return;
    }
    let apart = median(|| {
        let begin = Instant::now();
        let _ = Command::new(env!("CARGO_BIN_EXE_florc")).arg("plan").arg(&path).stdout(Stdio::null()).status();
        begin.elapsed()
    });
    let _ = std::fs::remove_file(&path);
    let milliseconds = |took: Duration| took.as_secs_f64() * 1e3;
    println!(
        "plan of 1,000 lines: {:.1} ms; a process of its own: {:.1} ms (by the clock, medians of 20)",
        milliseconds(within),
        milliseconds(apart)
    );
}

fn median(mut measure: impl FnMut() -> Duration) -> Duration {
    let mut all: Vec<Duration> = (0..20).map(|_| measure()).collect();
    all.sort();
    all[all.len() / 2]
}

fn stages(sources: &[Source]) -> [Duration; 4] {
    let options = Options::default();
    let mut took = [Duration::ZERO; 4];
    for source in sources {
        let copy = source.clone();
        let begin = worked();
        let Ok(file) = File::script(copy, "") else { continue };
        let parsed = worked();
        let analysis = Analysis::new(std::slice::from_ref(&file));
        let analysed = worked();
        let plan = analysis.plans(&options).remove(0);
        let planned = worked();
        let emitted = emit(&file.source, &file.module, &file.tokens, &plan, &[]);
        let ends = [parsed - begin, analysed - parsed, planned - analysed, worked() - planned];
        std::hint::black_box(emitted);
        took.iter_mut().zip(ends).for_each(|(sum, part)| *sum += part);
    }
    took
}

fn read(path: &Path) -> Option<Source> {
    let text = decode(&std::fs::read(path).ok()?).ok()?;
    Some(Source::new(path.display().to_string(), text))
}

#[allow(clippy::cast_precision_loss)] // for people
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn corpus() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("FLORC_CORPUS") {
        return Some(folder.into());
    }
    let script = "import sysconfig; print(sysconfig.get_path('stdlib'))";
    let asked = Command::new("python3").args(["-c", script]).output().ok()?;
    Some(PathBuf::from(String::from_utf8(asked.stdout).ok()?.trim())).filter(|folder| folder.is_dir())
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        if path.is_dir() && !matches!(name, "site-packages" | "test" | "__pycache__") {
            files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            out.push(path);
        }
    }
}
