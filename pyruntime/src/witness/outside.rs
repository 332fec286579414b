//! Numbers and texts that are others in each process, and that are told where an answer shows them: addresses, times of day within
//! the run, numbers of processes. They are masked, in order that what holds one can be compared.
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::encode::addresses::{LONGEST_TEXT, may_be_address, of_address};

const SECONDS_TO_NS: f64 = 1e9;
/// Numbers that files have, of those that a script opens.
const FILES: std::ops::Range<i64> = 3..64;
/// So much higher is the number of a process that another one started, or less: that of this one.
const LATER: i64 = 1 << 12;

/// What a whole number may be in the process of this number that the system counts for all of its life, or for all processes, and that
/// may be another one in a replay: `>` a file, `^` a process or a port, whose ranges overlap.
pub fn counted(number: i64, process: i64) -> &'static str {
    static KERNEL: OnceLock<(i64, RangeInclusive<i64>)> = OnceLock::new();
    let (most, ports) = KERNEL.get_or_init(|| {
        let processes = set("kernel/pid_max").and_then(|set| set.first().copied());
        let ports = set("net/ipv4/ip_local_port_range").and_then(|set| Some(*set.first()?..=*set.get(1)?));
        (processes.unwrap_or(1 << 15), ports.unwrap_or(32_768..=60_999))
    });
    let is_later = (0..*most).contains(&number) && (number - process).rem_euclid(*most) < LATER;
    match (FILES.contains(&number), is_later || ports.contains(&number)) {
        (true, true) => ">^",
        (true, false) => ">",
        (false, true) => "^",
        (false, false) => "",
    }
}

/// What a setting of the kernel is: after which number of a process small ones come again, which ports it chooses of.
fn set(setting: &str) -> Option<Vec<i64>> {
    let said = std::fs::read_to_string(format!("/proc/sys/{setting}")).ok()?;
    said.split_whitespace().map(|number| number.parse().ok()).collect()
}

/// Whether two whole numbers, told as they are, may be those of files, of which a replay has more open, of processes that this
/// one started, or of ports that the kernel chose. `processes`: numbers of this process, now and then.
#[pyo3::pyfunction]
pub fn is_of_system(was: &str, here: &str, processes: (i64, i64)) -> bool {
    let marks = |text: &str, process| text.parse().map_or("", |number: i64| counted(number, process));
    let (now, then) = processes;
    marks(was, then).contains(|mark| marks(here, now).contains(mark))
}

static IS_PROCESS_TOLD: AtomicBool = AtomicBool::new(false);

/// Whether a text that was looked at has the number of a process in it: a library may have put it there.
#[pyo3::pyfunction]
pub fn is_process_told() -> bool {
    IS_PROCESS_TOLD.load(Ordering::Relaxed)
}

/// What this process and the recorded one took from outside.
#[derive(Debug)]
pub struct Outside {
    /// Between which seconds the time of day was.
    pub spans: Vec<(f64, f64)>,
    /// Numbers of the processes.
    pub processes: Vec<i64>,
}

impl Outside {
    pub fn masks_whole(&self, number: i64) -> bool {
        #[allow(clippy::cast_precision_loss, reason = "only its size counts")]
        let seconds = number as f64 / SECONDS_TO_NS;
        may_be_address(number) || self.processes.contains(&number) || self.is_time(seconds)
    }

    /// A text with `@` in the place of addresses, times of day and numbers of processes in it.
    pub fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.len() > LONGEST_TEXT {
            return Cow::Borrowed(text);
        }
        let (mut masked, mut rest) = (String::new(), text);
        let is_end = |c: char| !c.is_ascii_alphanumeric();
        while !rest.is_empty() {
            let (word, others) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
            let (between, next) = others.split_at(others.find(|c| !is_end(c)).unwrap_or(others.len()));
            match of_address(word) {
                Some(_) => masked.push('@'),
                None => self.mask_numbers(word, &mut masked),
            }
            masked.push_str(between);
            rest = next;
        }
        if masked == text { Cow::Borrowed(text) } else { Cow::Owned(masked) }
    }

    fn mask_numbers(&self, word: &str, masked: &mut String) {
        for part in word.split_inclusive(|c: char| !c.is_ascii_digit()) {
            let digits = part.trim_end_matches(|c: char| !c.is_ascii_digit());
            let number = digits.parse::<i64>().ok();
            let is_outside = number.is_some_and(|number| self.is_time(number as f64) || self.masks_whole(number));
            if number.is_some_and(|number| self.processes.contains(&number)) {
                IS_PROCESS_TOLD.store(true, Ordering::Relaxed);
            }
            masked.push_str(if is_outside { "@" } else { digits });
            masked.push_str(&part[digits.len()..]);
        }
    }

    pub fn is_time(&self, seconds: f64) -> bool {
        self.spans.iter().any(|(first, last)| (*first..=*last).contains(&seconds))
    }
}
