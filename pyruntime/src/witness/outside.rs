//! Numbers and texts that are others in each process, and that are told where an answer shows them: addresses, times of day within
//! the run, numbers of processes. They are masked, in order that what holds one can be compared.
use crate::encode::addresses::{in_text, may_be_address};

const SECONDS_TO_NS: f64 = 1e9;

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

    pub fn masks_text(&self, text: &str) -> bool {
        let is_process = |word: &str| word.parse().is_ok_and(|number| self.processes.contains(&number));
        in_text(text).next().is_some() || text.split(|c: char| !c.is_ascii_digit()).any(is_process)
    }

    pub fn is_time(&self, seconds: f64) -> bool {
        self.spans.iter().any(|(first, last)| (*first..=*last).contains(&seconds))
    }
}
