//! The compiler over Python's standard library, as one corpus: megabytes per second, stage by stage. Run by `cargo bench`;
//! `FLORC_CORPUS` names another folder.

use florc::analysis::Analysis;
use florc::emit::emit;
use florc::source::decode;
use florc::syntax::File;
use florc::{Options, Source, syntax};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
}

fn stages(sources: &[Source]) -> [Duration; 4] {
    let options = Options::default();
    let mut took = [Duration::ZERO; 4];
    for source in sources {
        let copy = source.clone();
        let begin = Instant::now();
        let Ok(file) = File::script(copy, "") else { continue };
        let parsed = Instant::now();
        let analysis = Analysis::new(std::slice::from_ref(&file));
        let analysed = Instant::now();
        let plan = analysis.plans(&options).remove(0);
        let planned = Instant::now();
        let emitted = emit(&file.source, &file.module, &file.tokens, &plan, &[]);
        let ends = [parsed - begin, analysed - parsed, planned - analysed, planned.elapsed()];
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
    let asked = std::process::Command::new("python3").args(["-c", script]).output().ok()?;
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
