//! Names of a program, each text once: to copy, compare and hash one costs what a number costs.

use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A name. Its text lives as long as the process, which sees the names of a project or two.
#[derive(Clone, Copy)]
pub struct Name(&'static &'static str);

const SLOTS: usize = 1024;

/// Every name there is.
static KNOWN: LazyLock<Mutex<FxHashSet<Known>>> = LazyLock::new(Mutex::default);

thread_local! {
    /// Those that this thread has asked for.
    static MINE: RefCell<FxHashMap<&'static str, Name>> = RefCell::default();
    /// Those that it asked for last: a file has the same few names again and again, and a table of all does not fit a cache.
    static RECENT: [Cell<Name>; SLOTS] = const { [const { Cell::new(Name::NONE) }; SLOTS] };
    /// Dotted names that this thread has asked for, by what is before and behind the last dot.
    static DOTTED: RefCell<FxHashMap<(Name, Name), Name>> = RefCell::default();
}

/// Found by its text.
#[derive(PartialEq, Eq, Hash)]
struct Known(&'static &'static str);

impl std::borrow::Borrow<str> for Known {
    fn borrow(&self) -> &str {
        self.0
    }
}

impl Name {
    /// No name: an empty text.
    pub const NONE: Name = Name(&"");

    /// The name with this text.
    pub fn new(text: &str) -> Self {
        if text.is_empty() {
            return Self::NONE;
        }
        RECENT.with(|recent| {
            let recent = &recent[slot(text)];
            if recent.get().as_str() != text {
                recent.set(Self::mine(text));
            }
            recent.get()
        })
    }

    fn mine(text: &str) -> Self {
        MINE.with_borrow_mut(|mine| match mine.get(text) {
            Some(name) => *name,
            None => {
                let name = shared(text);
                mine.insert(*name.0, name);
                name
            }
        })
    }

    /// The name with this text, if something has asked for it already: no other is in any program.
    pub fn known(text: &str) -> Option<Self> {
        let mine = MINE.with_borrow(|mine| mine.get(text).copied());
        mine.or_else(|| KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(text).map(|known| Name(known.0)))
    }

    /// `base.attr` of `base`.
    #[must_use]
    pub fn dotted(self, attr: Name) -> Self {
        DOTTED
            .with_borrow_mut(|known| *known.entry((self, attr)).or_insert_with(|| Name::new(&format!("{self}.{attr}"))))
    }

    /// Its text.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// Where a text stands in [`RECENT`].
fn slot(text: &str) -> usize {
    let bytes = text.as_bytes();
    let at = |place: usize| bytes.get(place).map_or(0, |&byte| usize::from(byte));
    let ends = at(0) ^ at(1) << 3 ^ at(bytes.len() / 2) << 2 ^ at(bytes.len().saturating_sub(1)) << 4;
    (ends ^ bytes.len() << 5) % SLOTS
}

fn shared(text: &str) -> Name {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match known.get(text) {
        Some(found) => Name(found.0),
        None => {
            let kept: &'static str = Box::leak(Box::from(text));
            let name: &'static &'static str = Box::leak(Box::new(kept));
            known.insert(Known(name));
            Name(name)
        }
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Name {}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

/// By their texts: no order depends on which was asked for first.
impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other { Ordering::Equal } else { self.as_str().cmp(other.as_str()) }
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<&String> for Name {
    fn from(text: &String) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn equal_texts_are_one_name_in_every_thread() {
        let here = Name::new("weight");
        let there = std::thread::spawn(|| Name::new(&String::from("weight"))).join().unwrap();
        assert!(here == there && here != Name::new("bias") && Name::new("") == Name::NONE);
    }

    #[test]
    fn their_order_is_that_of_their_texts() {
        let (late, early) = (Name::new("zeta"), Name::new("alpha"));
        assert!(early < late && early.cmp(&early).is_eq() && Name::NONE < early);
    }
}
