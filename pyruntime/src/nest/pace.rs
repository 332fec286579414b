//! Which iterations the session is told of: of those that follow each other fast only some, and the last of each loop.

use super::levels::Here;
use std::time::{Duration, Instant};

/// An iteration that the session was not told of.
#[derive(Debug)]
struct Silent {
    run: u64,
    depth: usize,
    place: String,
    index: i64,
}

/// What is to be told when an iteration begins.
#[derive(Debug, PartialEq, Eq)]
pub struct Told {
    /// The last iteration of a loop that is over, if the session does not know of it.
    pub passed: Option<String>,
    /// Whether the session is told of this one.
    pub this: bool,
}

/// Decides it.
#[derive(Debug, Default)]
pub struct Pace {
    interval: Duration,
    /// Of an outermost loop, and of a loop inside.
    due: [Option<Instant>; 2],
    silent: Option<Silent>,
}

impl Pace {
    /// So much time lies at least between two iterations that the session is told of, but for first and last ones.
    pub fn new(interval: Duration) -> Self {
        Self { interval, ..Self::default() }
    }

    /// An iteration begins. `place`: of its loop.
    pub fn begins(&mut self, here: &Here, now: Instant, place: impl FnOnce() -> String) -> Told {
        let is_over = self.silent.as_ref().is_some_and(|silent| silent.run != here.run && silent.depth >= here.depth);
        let passed = if is_over { self.last() } else { None };
        let due = &mut self.due[usize::from(here.depth > 0)];
        if here.index == 0 || due.is_none_or(|due| now >= due) {
            *due = Some(now + self.interval);
            self.silent = None;
            return Told { passed, this: true };
        }
        self.passed(here, place);
        Told { passed, this: false }
    }

    /// Time between two that the session is told of.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// A loop was left in an iteration that was not looked at.
    pub fn passed(&mut self, here: &Here, place: impl FnOnce() -> String) {
        match &mut self.silent {
            Some(silent) if silent.run == here.run => silent.index = here.index,
            other => *other = Some(Silent { run: here.run, depth: here.depth, place: place(), index: here.index }),
        }
    }

    /// The session is told that there is no such iteration. Returns whether it does not know of it.
    pub fn ends(&mut self, run: u64) -> bool {
        self.silent.take_if(|silent| silent.run == run).is_some()
    }

    /// The last iteration, if the session does not know of it.
    pub fn last(&mut self) -> Option<String> {
        self.silent.take().map(|silent| format!("{}={}", silent.place, silent.index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(run: u64, depth: usize, index: i64) -> Here {
        Here { run, depth, index }
    }

    #[test]
    fn fast_iterations_are_told_of_now_and_then_and_the_last_one_is() {
        let mut pace = Pace::new(Duration::from_millis(5));
        let start = Instant::now();
        let told: Vec<i64> = (0_i64..20)
            .filter(|&index| {
                let now = start + Duration::from_millis(index.unsigned_abs());
                pace.begins(&here(1, 0, index), now, || "L1".to_owned()).this
            })
            .collect();
        assert_eq!(told, [0, 5, 10, 15]);
        assert_eq!(pace.last().as_deref(), Some("L1=19"));
        assert_eq!(pace.last(), None);
    }

    #[test]
    fn the_last_of_a_loop_is_told_when_another_one_goes_on() {
        let mut pace = Pace::new(Duration::from_secs(5));
        let now = Instant::now();
        let mut begins =
            |run, depth, index, place: &str| pace.begins(&here(run, depth, index), now, || place.to_owned());
        begins(1, 0, 0, "L1");
        begins(2, 1, 0, "L1=0/L2");
        begins(2, 1, 1, "L1=0/L2");
        begins(2, 1, 2, "L1=0/L2");
        let outer = begins(1, 0, 1, "L1");
        assert_eq!(outer, Told { passed: Some("L1=0/L2=2".to_owned()), this: false });
        // the path of an inner iteration tells of the outer one, too
        assert_eq!(begins(3, 1, 0, "L1=1/L2"), Told { passed: None, this: true });
        assert_eq!(pace.last(), None);
    }

    #[test]
    fn without_an_interval_every_iteration_is_told_of() {
        let mut pace = Pace::new(Duration::ZERO);
        let now = Instant::now();
        assert!((0..5).all(|index| pace.begins(&here(1, 0, index), now, String::new).this));
    }
}
