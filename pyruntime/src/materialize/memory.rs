//! How much memory staging may take. Too little loses a checkpoint, too much ends the run.
use std::fs;
use std::path::{Path, PathBuf};

/// When the operating system does not say how much memory is free.
const MODEST: usize = 256 << 20;

/// A quarter of the memory that is free now, in bytes.
pub fn quarter_of_free() -> usize {
    available().map_or(MODEST, |free| free / 4)
}

/// Three quarters of the memory that is free now, in bytes: what one checkpoint may take that is alone. No more than a quarter
/// where address space is limited, since the script may need it.
pub fn most_of_free() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: room for one limit, as the call wants
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
    if known && limit.rlim_cur == libc::RLIM_INFINITY { available().map_or(MODEST, most_of) } else { quarter_of_free() }
}

fn most_of(free: usize) -> usize {
    free - free / 4
}

/// Whether so many bytes more can be touched and as much again stays free. True when that cannot be
/// known.
pub fn affords(bytes: usize) -> bool {
    available().is_none_or(|free| free / 2 >= bytes)
}

/// Whether one checkpoint may take so many bytes for a while: a quarter of what is free now stays free.
pub fn affords_for_now(bytes: usize) -> bool {
    available().is_none_or(|free| most_of(free) >= bytes)
}

/// Free memory of the machine, or of the control group when that is less.
fn available() -> Option<usize> {
    let machine = field(Path::new("/proc/meminfo"), "MemAvailable:").and_then(|kib| kib.checked_mul(1024));
    machine.into_iter().chain(group_available()).min()
}

fn group_available() -> Option<usize> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let found = groups.lines().filter_map(|line| {
        let (names, path) = line.split_once(':')?.1.split_once(':')?;
        let below = |root: &str| PathBuf::from(root).join(path.trim_start_matches('/'));
        match names {
            "" => left(&below("/sys/fs/cgroup"), "memory.max", "memory.current", ""),
            "memory" => {
                left(&below("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
            }
            _ => None,
        }
    });
    found.min()
}

/// Cached files count as used, but are given up when memory is needed.
fn left(group: &Path, limit: &str, usage: &str, prefix: &str) -> Option<usize> {
    let number = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse::<usize>().ok();
    let stat = group.join("memory.stat");
    let cached = |name: &str| field(&stat, &format!("{prefix}{name}")).unwrap_or(0);
    let given_up = cached("inactive_file").saturating_add(cached("active_file"));
    Some(number(limit)?.saturating_sub(number(usage)?.saturating_sub(given_up)))
}

/// The number after a name at the beginning of a line.
fn field(file: &Path, name: &str) -> Option<usize> {
    let text = fs::read_to_string(file).ok()?;
    let mut fields = text.lines().map(str::split_whitespace);
    fields.find_map(|mut words| if words.next() == Some(name) { words.next()?.parse().ok() } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_some_and_not_everything() {
        assert!(quarter_of_free() > 1 << 20);
        assert!(affords(4096) && !affords(1 << 55));
        assert!(affords_for_now(4096) && !affords_for_now(1 << 55) && most_of_free() >= quarter_of_free());
    }

    #[test]
    fn cached_files_are_free_memory() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("max"), "1000\n").unwrap();
        fs::write(dir.path().join("now"), "900\n").unwrap();
        fs::write(dir.path().join("memory.stat"), "anon 300\ninactive_file 400\nactive_file 200\n").unwrap();
        assert_eq!(left(dir.path(), "max", "now", ""), Some(700));
        fs::write(dir.path().join("max"), "max\n").unwrap();
        assert_eq!(left(dir.path(), "max", "now", ""), None);
    }
}
