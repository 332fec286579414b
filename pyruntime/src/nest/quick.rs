//! Iterations that follow each other so fast that only some are looked at: the others are counted, and that is all.
//!
//! A loop of a few additions takes less time than asking the clock. How many of its iterations are passed follows from how long the
//! last ones took, so that the session hears of an iteration nearly as often as it wants to.

use super::levels::events;
use super::owner::is_followed;
use crate::guard::interrupts;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// Of the time between two iterations that the session is told of, so many parts may pass unseen.
const PARTS: u32 = 10;
/// Iterations that are passed at once.
const MOST: u32 = 4096;

/// Of one run of a loop.
#[derive(Debug, Default)]
pub struct Quick {
    index: Option<Arc<AtomicI64>>,
    /// So many more iterations are only counted,
    left: u32,
    /// as long as no loop or block begins.
    events: u64,
    /// When an iteration was looked at last, and which.
    looked: Option<(Instant, i64)>,
}

impl Quick {
    /// An iteration begins. Whether it is counted, and need not be looked at.
    pub fn passes(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        let index = self.index.as_ref().filter(|_| self.events == events() && is_followed() && !interrupts::came());
        let Some(index) = index else {
            self.left = 0;
            return false;
        };
        self.left -= 1;
        index.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// An iteration was looked at. `interval`: the session is told at most so often; zero: of each.
    pub fn looked(&mut self, now: Instant, index: Arc<AtomicI64>, interval: Duration) {
        let at = index.load(Ordering::Relaxed);
        let is_same = self.index.as_ref().is_some_and(|known| Arc::ptr_eq(known, &index)) && self.events == events();
        let took = self.looked.filter(|_| is_same).and_then(|(then, before)| {
            let count = u32::try_from(at - before).ok().filter(|count| *count > 0)?;
            Some(now.duration_since(then) / count)
        });
        self.left = took.map_or(0, |took| {
            let most = (interval / PARTS).as_nanos() / took.as_nanos().max(1);
            u32::try_from(most).unwrap_or(MOST).min(MOST)
        });
        (self.index, self.events, self.looked) = (Some(index), events(), Some((now, at)));
    }

    /// Whether iterations passed since one was looked at.
    pub fn has_passed(&self) -> bool {
        let at = self.index.as_ref().map(|index| index.load(Ordering::Relaxed));
        at.zip(self.looked).is_some_and(|(at, (_, looked))| at != looked)
    }
}
