//! A place in the loop nest as a value: `L1=3/L2#0/L2=70@`.
//!
//! Steps, the outermost first: `L1=3` is an iteration of a loop, `L2#0` a run of a block, and a bare `L2`, which only the last step
//! may be, the loop itself. `@` at the end is the start of that iteration, before anything in it runs. Without any step it is the
//! program itself. The text is what journals hold; `levels` writes it by itself, as that happens once per iteration.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// What the number of a step counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum At {
    /// The loop itself.
    Loop,
    /// An iteration, from 0; -1 before the first.
    Iteration(i64),
    /// How many times the block ran before at this place.
    Run(i64),
}

/// One loop or block of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Step {
    /// Its id, and `.1` where a loop runs again in the same iteration of the one around it.
    pub name: String,
    pub at: At,
}

/// A place in the loop nest.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Path {
    pub steps: Vec<Step>,
    /// Whether it is the start of the iteration.
    pub between: bool,
}

/// A loop id without its occurrence.
pub fn base(id: &str) -> &str {
    match id.rsplit_once('.') {
        Some((base, tail)) if !tail.is_empty() && tail.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => id,
    }
}

impl Step {
    fn named(name: &str, at: At) -> Result<Self, &'static str> {
        if name.is_empty() {
            return Err("every step names a loop or a block");
        }
        Ok(Self { name: name.to_owned(), at })
    }

    fn numbered(name: &str, sign: char, number: &str) -> Result<Self, &'static str> {
        let count: i64 = number.parse().map_err(|_| "a number follows `=` and `#`")?;
        let digits = number.strip_prefix('-').unwrap_or(number);
        if digits.starts_with(['0', '+']) && number != "0" {
            return Err("a number is written in one way: without leading zeros, and without `+`");
        }
        Self::named(name, if sign == '=' { At::Iteration(count) } else { At::Run(count) })
    }

    /// Whether what happens at `other` happens at this step.
    fn holds(&self, other: &Step) -> bool {
        let is_iteration = self.at == At::Loop && matches!(other.at, At::Iteration(_));
        self.name == other.name && (self.at == other.at || is_iteration)
    }

    fn order(&self, other: &Step) -> Option<Ordering> {
        let order = match (self.at, other.at) {
            (At::Iteration(one), At::Iteration(two)) | (At::Run(one), At::Run(two)) => one.cmp(&two),
            (At::Loop, At::Loop) => Ordering::Equal,
            (At::Loop, At::Iteration(_)) => Ordering::Less,
            (At::Iteration(_), At::Loop) => Ordering::Greater,
            _ => return None,
        };
        (self.name == other.name).then_some(order)
    }
}

impl Path {
    /// The first so many steps.
    pub fn head(&self, count: usize) -> Path {
        Path { steps: self.steps[..count.min(self.steps.len())].to_vec(), between: false }
    }

    /// The loop or block that a step counts, at its place in the nest.
    pub fn place(&self, count: usize) -> Path {
        let mut place = self.head(count);
        if let Some(last) = place.steps.last_mut() {
            last.at = At::Loop;
        }
        place
    }

    /// Whether another place is this one, or lies in it.
    pub fn holds(&self, other: &Path) -> bool {
        let is_inside = |(own, step): (&Step, &Step)| own == step;
        match self.steps.split_last() {
            _ if self.between => self == other,
            None => true,
            Some((last, around)) => {
                other.steps.len() >= self.steps.len()
                    && around.iter().zip(&other.steps).all(is_inside)
                    && other.steps.get(around.len()).is_some_and(|step| last.holds(step))
            }
        }
    }

    /// Of a place inside this one: that place, or the one around it, that is just one step, or one iteration, further in.
    pub fn below(&self, other: &Path) -> Option<Path> {
        if self.between || !self.holds(other) {
            return None;
        }
        let is_loop = self.steps.last().is_some_and(|last| last.at == At::Loop);
        let count = self.steps.len() + usize::from(!is_loop);
        let is_further = other.steps.len() >= count && !(is_loop && other.steps[count - 1].at == At::Loop);
        let found = || Path { between: other.between && count == other.steps.len(), ..other.head(count) };
        is_further.then(found)
    }

    /// Where another place is seen from this iteration: before it, in it, or after it; none where they are in loops or blocks of
    /// which nothing tells the order.
    pub fn side(&self, other: &Path) -> Option<Ordering> {
        for (own, step) in self.steps.iter().zip(&other.steps) {
            if own == step {
                continue;
            }
            let (At::Iteration(_), At::Iteration(_)) = (own.at, step.at) else { return None };
            return step.order(own);
        }
        (other.steps.len() >= self.steps.len()).then_some(Ordering::Equal)
    }
}

impl PartialOrd for Path {
    /// In the order of the program; what holds another place begins before it. None where nothing tells.
    fn partial_cmp(&self, other: &Path) -> Option<Ordering> {
        for (own, step) in self.steps.iter().zip(&other.steps) {
            match own.order(step)? {
                Ordering::Equal => (),
                differs => return Some(differs),
            }
        }
        match self.steps.len().cmp(&other.steps.len()) {
            Ordering::Equal => Some(other.between.cmp(&self.between)),
            differs => Some(differs),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps.iter().enumerate() {
            let separator = if number > 0 { "/" } else { "" };
            match step.at {
                At::Loop => write!(out, "{separator}{}", step.name)?,
                At::Iteration(index) => write!(out, "{separator}{}={index}", step.name)?,
                At::Run(run) => write!(out, "{separator}{}#{run}", step.name)?,
            }
        }
        if self.between { out.write_str("@") } else { Ok(()) }
    }
}

impl FromStr for Path {
    /// Why it is none.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Path, &'static str> {
        let (mut rest, between) = text.strip_suffix('@').map_or((text, false), |rest| (rest, true));
        let mut steps = Vec::new();
        if rest.is_empty() && !between {
            return Ok(Path::default());
        }
        // the name of a module, which is the head of the ids of its loops, may hold a slash
        while let Some((name, tail)) = rest.split_once(['=', '#']) {
            let sign = if rest[name.len()..].starts_with('=') { '=' } else { '#' };
            let Some((number, further)) = tail.split_once('/') else {
                steps.push(Step::numbered(name, sign, tail)?);
                return Ok(Path { steps, between });
            };
            steps.push(Step::numbered(name, sign, number)?);
            rest = further;
        }
        steps.push(Step::named(rest, At::Loop)?);
        Ok(Path { steps, between })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(text: &str) -> Path {
        text.parse().expect("a path")
    }

    #[test]
    fn what_is_no_path_says_why() {
        for text in ["@", "L1=", "L1=x", "L1=03", "L1=3/", "L1=3@/L2=0", "L1=3/=0", "=3", "#0", "L1=3#0", "L1=+1"] {
            assert!(text.parse::<Path>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_loop_holds_its_iterations_and_a_block_does_not() {
        for (outer, inner) in [("", "L1=3"), ("L1", "L1=3/L2#0"), ("L1=3", "L1=3@"), ("L1=3/L2#0", "L1=3/L2#0/L2")] {
            assert!(path(outer).holds(&path(inner)), "{inner} is in {outer}");
            assert!(outer == inner || !path(inner).holds(&path(outer)), "{outer} is not in {inner}");
        }
        for (one, other) in [("L1=1", "L1=10"), ("L1", "L1.1=0"), ("L2", "L2#0/L2=1"), ("L1=3@", "L1=3")] {
            assert!(!path(one).holds(&path(other)), "{other} is not in {one}");
        }
    }

    #[test]
    fn places_come_in_the_order_of_the_program() {
        let sorted = ["L1", "L1=2", "L1=2/L2#0", "L1=2/L2#0/L2=9", "L1=2/L2#1", "L1=3@", "L1=3", "L1=3/L2#0", "L1=10"];
        for (at, one) in sorted.iter().enumerate() {
            for (to, other) in sorted.iter().enumerate() {
                assert_eq!(path(one).partial_cmp(&path(other)), Some(at.cmp(&to)), "{one} and {other}");
            }
        }
        assert_eq!(path("L1=2/L2#0").partial_cmp(&path("L1=2/L3#0")), None);
        assert_eq!(path("L1=2").side(&path("L1=1/L2#0")), Some(Ordering::Less));
        assert_eq!(path("L1=2/L2=1").side(&path("L1=2")), None);
    }

    #[test]
    fn one_step_further_in() {
        let below = |outer: &str, inner: &str| path(outer).below(&path(inner)).map(|found| found.to_string());
        assert_eq!(below("L1=3", "L1=3/L2#0/L2=1").as_deref(), Some("L1=3/L2#0"));
        assert_eq!(below("L1", "L1=3/L2#0").as_deref(), Some("L1=3"));
        assert_eq!(below("L1", "L1=3@").as_deref(), Some("L1=3@"));
        assert_eq!(below("", "L1").as_deref(), Some("L1"));
        assert_eq!((below("L1", "L1"), below("L1=3", "L1=3"), below("L1=3", "L1=4/L2#0")), (None, None, None));
    }

    fn any_path() -> impl Strategy<Value = Path> {
        let name = "(/?[a-z]{1,2}/)?[a-z]{0,2}\\.?L[0-9]{1,2}(\\.[0-9])?";
        let at = prop_oneof![(-1i64..1000).prop_map(At::Iteration), (0i64..1000).prop_map(At::Run)];
        let steps = prop::collection::vec((name, at).prop_map(|(name, at)| Step { name, at }), 0..5);
        (steps, any::<bool>(), any::<bool>()).prop_map(|(mut steps, is_loop, between)| {
            let last = steps.last_mut().filter(|_| is_loop);
            last.into_iter().for_each(|step| step.at = At::Loop);
            Path { between: between && !steps.is_empty(), steps }
        })
    }

    proptest! {
        #[test]
        fn the_text_tells_everything(known in any_path()) {
            prop_assert_eq!(path(&known.to_string()), known);
        }

        #[test]
        fn any_text_that_is_read_is_written_as_it_was(text in "[L1./=#@x0-]{0,12}") {
            if let Ok(known) = text.parse::<Path>() {
                prop_assert_eq!(known.to_string(), text);
            }
        }

        #[test]
        fn what_holds_a_place_comes_first(one in any_path(), other in any_path(), count in 0usize..5) {
            let around = other.head(count);
            prop_assert!(around.holds(&other));
            prop_assert!(around.between || around.partial_cmp(&other) != Some(Ordering::Greater) || other.between);
            let turned = other.partial_cmp(&one).map(Ordering::reverse);
            prop_assert_eq!(one.partial_cmp(&other), turned);
            prop_assert_eq!(one.partial_cmp(&other) == Some(Ordering::Equal), one == other);
        }
    }
}
