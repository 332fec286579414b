//! Where in the loop nest the program is: the iteration of every enclosing loop, across function calls.
//!
//! A checkpoint is keyed by its block, the iterations around it and the how-many-eth time the block runs there:
//! `L1=3/L2#0` is the first run of block L2 in iteration 3 of loop L1.

use super::entered;
use super::path::base;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Counts the loops and blocks that began.
static EVENTS: AtomicU64 = AtomicU64::new(0);

/// How many loops and blocks began so far.
pub fn events() -> u64 {
    EVENTS.load(Ordering::Relaxed)
}

/// What is known statically of a loop: enough to see that another one was left by an exception or a `break`.
#[derive(Clone, Debug, Default)]
pub struct LoopFacts {
    /// File and function it is in.
    pub scope: String,
    /// The loops around it in the same function.
    pub ancestors: Vec<String>,
    /// Whether it is a `while` loop, which tells when it begins (`enter_loop`).
    pub is_while: bool,
    /// Whether it is a block that is passed by, until it is wanted.
    pub in_reserve: bool,
}

/// An iteration of a loop that is running.
#[derive(Debug)]
pub struct Here {
    /// Tells runs of loops apart.
    pub run: u64,
    /// How many followed loops are around it.
    pub depth: usize,
    pub index: i64,
}

/// The last iteration of a loop that is over, and its path.
#[derive(Debug)]
pub struct Left {
    pub here: Here,
    pub path: String,
}

/// A run of a loop, as what follows it holds it: the level that is at this depth, while the run is that one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    depth: usize,
    run: u64,
}

#[derive(Debug)]
struct Level {
    id: Arc<str>,
    /// What is known of the loop or block; None of one that nobody made known.
    facts: Option<Arc<LoopFacts>>,
    run: u64,
    /// The iteration, for a followed loop, which may count it itself; the occurrence, for a block.
    index: Arc<AtomicI64>,
    is_block: bool,
    /// Whether it is a block that nobody looks at.
    is_passed: bool,
    /// How often each block or loop ran inside this level's present iteration.
    seen: Counts,
    /// When it began, as `entered` counts.
    begun: u64,
}

impl Level {
    fn at(&self) -> i64 {
        self.index.load(Ordering::Relaxed)
    }
}

/// What the nest knows of a loop or block.
#[derive(Debug, Default)]
struct Known {
    /// None of one that nobody made known.
    facts: Option<Arc<LoopFacts>>,
    /// How many of its next executions are passed by,
    passed: Cell<u64>,
    /// and until when all of them are.
    passed_until: Cell<Option<Instant>>,
}

/// How often each of a few blocks and loops ran: an iteration holds no more of them than its source does.
type Counts = Vec<(Arc<str>, i64)>;

/// The loop nest as it is being run.
#[derive(Debug, Default)]
pub struct Nest {
    facts: HashMap<Arc<str>, Known>,
    levels: Vec<Level>,
    /// Counts outside every loop.
    seen: Counts,
    /// Levels that were entered so far.
    runs: u64,
    /// A path, and the iteration of the innermost loop in it, while it is the present one.
    path: Option<(Arc<str>, i64)>,
    /// Whether a loop that is left in the middle runs on until the one around it goes on, as in runs of format 2 and before.
    keeps_left: bool,
    /// Where an error arose that has left loops, until something runs again.
    raised_at: Option<String>,
}

impl Nest {
    /// A nest in which places are those of recorded runs; `keeps_left`: of earlier ones.
    pub fn new(keeps_left: bool) -> Self {
        Self { keeps_left, ..Self::default() }
    }

    /// Makes a loop known.
    pub fn register(&mut self, id: String, facts: LoopFacts) {
        let known = self.facts.entry(id.into()).or_default();
        known.passed.set(if facts.in_reserve { u64::MAX } else { 0 });
        known.facts = Some(Arc::new(facts));
    }

    /// Nobody looks at the next so many executions of a block, and at none for so long.
    pub fn pass_by(&mut self, id: &str, times: u64, time: Duration) {
        let known = self.facts.entry(id.into()).or_default();
        known.passed.set(times);
        known.passed_until.set(Instant::now().checked_add(time).filter(|_| !time.is_zero()));
    }

    /// The id as it is shared, and what is known of the loop: no text is copied for what runs often.
    fn known(&self, id: &str) -> (Arc<str>, Option<Arc<LoopFacts>>) {
        match self.facts.get_key_value(id) {
            Some((id, known)) => (id.clone(), known.facts.clone()),
            None => (id.into(), None),
        }
    }

    /// A loop begins; its first iteration is 0 once [`Nest::advance`] is called.
    ///
    /// A loop that runs again in the same iteration of the loop around it is another occurrence: `L2.1`.
    pub fn enter_loop(&mut self, id: &str) -> Running {
        let (id, facts) = self.known(id);
        self.prune_to(&id, facts.as_deref(), false);
        let again = self.count(&id);
        let id = if again == 0 { id } else { format!("{id}.{again}").into() };
        self.push(id, facts, -1, false);
        Running { depth: self.levels.len() - 1, run: self.runs }
    }

    /// Closes what was left open inside a loop that runs; its level, unless it was closed itself.
    fn reached(&mut self, running: Running) -> Option<&mut Level> {
        let is_open = self.levels.get(running.depth).is_some_and(|level| level.run == running.run);
        if is_open {
            self.path = None;
            self.levels.truncate(running.depth + 1);
        }
        self.levels.last_mut().filter(|_| is_open)
    }

    /// The next iteration of a loop begins: whatever was left open inside it is closed. Returns whether loops or blocks ran in
    /// the one before.
    pub fn advance(&mut self, running: Running) -> bool {
        self.raised_at = None;
        let Some(level) = self.reached(running) else { return false };
        level.index.fetch_add(1, Ordering::Relaxed);
        let held = !level.seen.is_empty();
        level.seen.clear();
        held
    }

    /// What counts the iterations of the innermost loop.
    pub fn counter(&self) -> Option<Arc<AtomicI64>> {
        self.levels.last().filter(|level| !level.is_block).map(|level| level.index.clone())
    }

    /// A loop goes on from another iteration.
    pub fn set_index(&mut self, running: Running, index: i64) {
        if let Some(level) = self.reached(running) {
            level.index.store(index, Ordering::Relaxed);
        }
    }

    /// A loop is over. `by_error`: so is the block that it is, which has no end then. Returns where that was; None if it was
    /// known.
    pub fn leave_loop(&mut self, running: Running, by_error: bool) -> Option<Left> {
        if by_error && self.raised_at.is_none() {
            self.raised_at = Some(self.path());
        }
        let id = self.reached(running)?.id.clone();
        let left = Some(Left { here: self.here()?, path: self.path() });
        self.levels.pop();
        if by_error && self.levels.last().is_some_and(|level| level.is_block && *level.id == *base(&id)) {
            self.levels.pop();
        }
        left
    }

    /// A loop was left in the middle, by an error or not.
    pub fn leave_in_the_middle(&mut self, running: Running, by_error: bool) -> Option<Left> {
        if self.keeps_left { None } else { self.leave_loop(running, by_error) }
    }

    /// The innermost run of a `while` loop, whose condition is false now.
    pub fn ending(&mut self, id: &str) -> Option<Running> {
        if self.keeps_left { None } else { self.running(id) }
    }

    /// The innermost run of a `while` loop that runs.
    fn running(&mut self, id: &str) -> Option<Running> {
        let (known, facts) = self.known(id);
        self.prune_to(&known, facts.as_deref(), true);
        let depth = self.levels.iter().rposition(|level| !level.is_block && base(&level.id) == id)?;
        // One that does not tell when it begins may be over: it runs if it is the innermost loop.
        let is_it = facts.is_some_and(|facts| facts.is_while) || depth + 1 == self.levels.len();
        self.levels.get(depth).filter(|_| is_it).map(|level| Running { depth, run: level.run })
    }

    /// The condition of a `while` loop is about to be evaluated. Returns the run of the loop, its iteration, and whether loops
    /// or blocks ran in the one before.
    pub fn tick(&mut self, id: &str) -> (Running, i64, bool) {
        let running = self.running(id).unwrap_or_else(|| self.enter_loop(id));
        let held = self.advance(running);
        (running, self.levels.last().map_or(0, Level::at), held)
    }

    /// A block begins. Returns its key.
    pub fn enter_block(&mut self, id: &str) -> String {
        let (id, facts) = self.known(id);
        self.begin_block(id, facts);
        self.path()
    }

    fn begin_block(&mut self, id: Arc<str>, facts: Option<Arc<LoopFacts>>) {
        self.prune_to(&id, facts.as_deref(), false);
        let index = self.count(&id);
        self.push(id, facts, index, true);
    }

    /// A block begins, if it is one that nobody looks at; whether it is.
    pub fn passes(&mut self, id: &str) -> bool {
        let Some((id, known)) = self.facts.get_key_value(id) else { return false };
        match known.passed.get().checked_sub(1) {
            Some(left) => known.passed.set(left),
            None => {
                let until = known.passed_until.take().filter(|until| Instant::now() < *until);
                known.passed_until.set(until);
                if until.is_none() {
                    return false;
                }
            }
        }
        let (id, facts) = (id.clone(), known.facts.clone());
        self.begin_block(id, facts);
        if let Some(level) = self.levels.last_mut() {
            level.is_passed = true;
        }
        true
    }

    /// A block is over, if it is one that nobody looks at; whether it is.
    pub fn leave_passed(&mut self, id: &str) -> bool {
        let at = self.levels.iter().rposition(|level| level.is_block && *level.id == *id);
        let Some(at) = at.filter(|at| self.levels.get(*at).is_some_and(|level| level.is_passed)) else { return false };
        self.path = None;
        self.levels.truncate(at);
        true
    }

    /// A block is over.
    pub fn leave_block(&mut self, id: &str) {
        self.path = None;
        self.raised_at = None;
        if let Some(at) = self.levels.iter().rposition(|level| level.is_block && *level.id == *id) {
            self.levels.truncate(at);
        }
    }

    fn push(&mut self, id: Arc<str>, facts: Option<Arc<LoopFacts>>, index: i64, is_block: bool) {
        self.runs += 1;
        EVENTS.fetch_add(1, Ordering::Relaxed);
        self.path = None;
        self.raised_at = None;
        self.levels.push(Level {
            id,
            facts,
            run: self.runs,
            index: Arc::new(AtomicI64::new(index)),
            is_block,
            is_passed: false,
            seen: Counts::new(),
            begun: entered::begins(),
        });
    }

    /// When a running block began, as `entered` counts; with None, the innermost loop or block.
    pub fn begun(&self, block: Option<&str>) -> Option<u64> {
        let is_it = |level: &&Level| block.is_none_or(|id| level.is_block && *level.id == *id);
        self.levels.iter().rev().find(is_it).map(|level| level.begun)
    }

    /// The iteration of the loop that is the innermost one now.
    pub fn here(&self) -> Option<Here> {
        let level = self.levels.last().filter(|level| !level.is_block)?;
        let depth = self.levels.iter().filter(|level| !level.is_block).count() - 1;
        Some(Here { run: level.run, depth, index: level.at() })
    }

    /// The place of that loop in the nest: `L1=3/L2`.
    pub fn place(&self) -> String {
        let mut path = self.path();
        path.truncate(path.rfind('=').unwrap_or(0));
        path
    }

    /// The present place in the nest: `L1=3/L2#0`.
    pub fn path(&self) -> String {
        let mut out = String::new();
        for level in &self.levels {
            let sign = if level.is_block { '#' } else { '=' };
            let separator = if out.is_empty() { "" } else { "/" };
            let _ = write!(out, "{separator}{}{sign}{}", level.id, level.at());
        }
        out
    }

    /// The place where the error arose that left loops just now; without one, the present place.
    pub fn raised_at(&self) -> String {
        self.raised_at.clone().unwrap_or_else(|| self.path())
    }

    /// As [`Nest::path`], and made once per place.
    pub fn shared_path(&mut self) -> Arc<str> {
        let at = self.levels.last().map_or(0, Level::at);
        if let Some((path, _)) = self.path.as_ref().filter(|(_, known)| *known == at) {
            return path.clone();
        }
        let path: Arc<str> = self.path().into();
        self.path = Some((path.clone(), at));
        path
    }

    fn count(&mut self, id: &Arc<str>) -> i64 {
        let seen = self.levels.last_mut().map_or(&mut self.seen, |level| &mut level.seen);
        if let Some((_, times)) = seen.iter_mut().find(|(known, _)| known == id) {
            *times += 1;
            return *times - 1;
        }
        seen.push((id.clone(), 1));
        0
    }

    /// Closes loops of the same function that do not enclose `id`: control left them without arriving at their end.
    fn prune_to(&mut self, id: &str, facts: Option<&LoopFacts>, keep_itself: bool) {
        let Some(facts) = facts else { return };
        self.path = None;
        while let Some(level) = self.levels.last() {
            let open = base(&level.id);
            let stale = level.facts.as_ref().is_some_and(|other| {
                let around = facts.ancestors.iter().any(|outer| outer == open);
                let itself = open == id && (keep_itself || level.is_block);
                other.scope == facts.scope && !around && !itself
            });
            if !stale {
                break;
            }
            self.levels.pop();
        }
    }
}

#[cfg(test)]
mod tests;
