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
use std::time::{Duration, Instant};

/// What is known statically of a loop: enough to see that another one was left by an exception or a `break`.
#[derive(Clone, Debug, Default)]
pub struct LoopFacts {
    /// File and function it is in.
    pub scope: String,
    /// The loops around it in the same function.
    pub ancestors: Vec<String>,
    /// Whether it is a `while` loop, which tells when it begins (`enter_loop`).
    pub is_while: bool,
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
    /// The iteration, for a followed loop; the occurrence, for a block.
    index: i64,
    is_block: bool,
    /// Whether it is a block that nobody looks at.
    is_passed: bool,
    /// How often each block or loop ran inside this level's present iteration.
    seen: Counts,
    /// When it began, as `entered` counts.
    begun: u64,
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
    /// The present path, while it is known.
    path: Option<Arc<str>>,
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
        self.facts.entry(id.into()).or_default().facts = Some(Arc::new(facts));
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
        level.index += 1;
        let held = !level.seen.is_empty();
        level.seen.clear();
        held
    }

    /// A loop goes on from another iteration.
    pub fn set_index(&mut self, running: Running, index: i64) {
        if let Some(level) = self.reached(running) {
            level.index = index;
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
    pub fn leave_in_the_middle(&mut self, running: Running, by_error: bool) {
        if !self.keeps_left {
            self.leave_loop(running, by_error);
        }
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
        (running, self.levels.last().map_or(0, |level| level.index), held)
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
        self.path = None;
        self.raised_at = None;
        self.levels.push(Level {
            id,
            facts,
            run: self.runs,
            index,
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
        Some(Here { run: level.run, depth, index: level.index })
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
            let _ = write!(out, "{separator}{}{sign}{}", level.id, level.index);
        }
        out
    }

    /// The place where the error arose that left loops just now; without one, the present place.
    pub fn raised_at(&self) -> String {
        self.raised_at.clone().unwrap_or_else(|| self.path())
    }

    /// As [`Nest::path`], and made once per place.
    pub fn shared_path(&mut self) -> Arc<str> {
        if let Some(path) = &self.path {
            return path.clone();
        }
        let path: Arc<str> = self.path().into();
        self.path = Some(path.clone());
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
mod tests {
    use super::{LoopFacts, Nest};
    use std::time::Duration;

    fn nest() -> Nest {
        let mut nest = Nest::default();
        for (id, scope, ancestors) in
            [("L1", "m", vec![]), ("L2", "m", vec!["L1"]), ("L3", "m", vec!["L1"]), ("L4", "m:f", vec![])]
        {
            let ancestors = ancestors.into_iter().map(str::to_owned).collect();
            nest.register(id.to_owned(), LoopFacts { scope: scope.to_owned(), ancestors, is_while: id == "L1" });
        }
        nest
    }

    #[test]
    fn keys_follow_the_nest() {
        let mut nest = nest();
        let running = nest.enter_loop("L1");
        nest.advance(running);
        assert_eq!(nest.enter_block("L2"), "L1=0/L2#0");
        nest.leave_block("L2");
        assert_eq!(nest.enter_block("L4"), "L1=0/L4#0");
        nest.leave_block("L4");
        assert_eq!(nest.enter_block("L4"), "L1=0/L4#1");
        nest.leave_block("L4");
        nest.advance(running);
        assert_eq!(nest.enter_block("L4"), "L1=1/L4#0");
        nest.leave_loop(running, false);
        assert_eq!(nest.enter_loop("L1").depth, 0);
        assert_eq!(nest.path(), "L1.1=-1");
    }

    #[test]
    fn a_block_left_by_an_exception_is_closed() {
        let mut nest = nest();
        let running = nest.enter_loop("L1");
        nest.advance(running);
        nest.enter_block("L2");
        assert_eq!(nest.enter_block("L3"), "L1=0/L3#0");
    }

    #[test]
    fn a_block_that_is_passed_by_counts_and_is_left() {
        let mut nest = nest();
        let running = nest.enter_loop("L1");
        nest.advance(running);
        nest.pass_by("L2", 1, Duration::ZERO);
        assert!(nest.passes("L2") && !nest.passes("L2"));
        assert_eq!(nest.path(), "L1=0/L2#0");
        assert!(!nest.leave_passed("L3"));
        assert!(nest.leave_passed("L2") && !nest.leave_passed("L2"));
        assert_eq!(nest.enter_block("L2"), "L1=0/L2#1");
        assert!(!nest.leave_passed("L2"), "somebody looks at this one");
    }

    #[test]
    fn a_block_is_passed_by_until_its_time_is_over() {
        let mut nest = nest();
        nest.pass_by("L2", 0, Duration::from_secs(3600));
        for _ in 0..3 {
            assert!(nest.passes("L2") && nest.leave_passed("L2"));
        }
        nest.pass_by("L2", 0, Duration::from_nanos(1));
        std::thread::sleep(Duration::from_millis(1));
        assert!(!nest.passes("L2"));
    }

    #[test]
    fn a_loop_that_was_closed_closes_no_other() {
        let mut nest = nest();
        let outer = nest.enter_loop("L1");
        nest.advance(outer);
        let inner = nest.enter_loop("L2");
        nest.advance(outer);
        nest.enter_loop("L3");
        nest.leave_loop(inner, false);
        assert!(!nest.advance(inner));
        nest.set_index(inner, 7);
        assert_eq!(nest.path(), "L1=1/L3=-1");
        nest.leave_loop(outer, false);
        assert_eq!(nest.path(), "");
    }

    #[test]
    fn a_loop_that_an_error_leaves_takes_its_block_with_it() {
        for (keeps_left, by_error, left) in
            [(false, false, "L1=0/L2#0"), (false, true, "L1=0"), (true, true, "L1=0/L2#0/L2=0")]
        {
            let mut nest = Nest { keeps_left, ..nest() };
            let outer = nest.enter_loop("L1");
            nest.advance(outer);
            nest.enter_block("L2");
            let inner = nest.enter_loop("L2");
            nest.advance(inner);
            nest.leave_in_the_middle(inner, by_error);
            assert_eq!(nest.path(), left);
            nest.leave_in_the_middle(outer, by_error);
            assert_eq!(nest.raised_at(), if by_error { "L1=0/L2#0/L2=0" } else { "" });
            nest.enter_loop("L3");
            assert_eq!(nest.raised_at(), nest.path());
        }
    }

    #[test]
    fn a_while_loop_that_tells_when_it_begins_closes_what_a_function_left_open() {
        let mut nest = nest();
        nest.enter_loop("L1");
        nest.tick("L1");
        nest.tick("L4");
        nest.tick("L1");
        assert_eq!(nest.path(), "L1=1");
    }

    #[test]
    fn a_while_loop_that_goes_on_closes_one_inside_that_did_not_tell_its_end() {
        let mut nest = Nest::default();
        for (id, ancestors) in [("L1", vec![]), ("L2", vec!["L1".to_owned()])] {
            nest.register(id.to_owned(), LoopFacts { scope: "m".to_owned(), ancestors, is_while: true });
        }
        nest.enter_loop("L1");
        nest.tick("L1");
        nest.enter_loop("L2");
        nest.tick("L2");
        nest.tick("L1");
        assert_eq!(nest.path(), "L1=1");
    }

    #[test]
    fn while_loops_count_their_conditions() {
        let mut nest = nest();
        nest.tick("L1");
        nest.enter_block("L2");
        nest.leave_block("L2");
        nest.tick("L1");
        assert_eq!(nest.path(), "L1=1");
    }
}
