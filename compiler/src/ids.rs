//! Numbers that stand for something, each of a type of its own, and lists that only their own numbers open.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The number of something in a list.
pub trait Id: Copy + Ord {
    /// The number of a place in its list.
    fn new(place: usize) -> Self;
    /// The place in its list.
    fn place(self) -> usize;
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// Before all others.
            pub const FIRST: Self = Self(0);
            /// Behind all others.
            pub const LAST: Self = Self(u32::MAX);

            /// The one behind it.
            #[must_use]
            pub fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }

        impl Id for $name {
            fn new(place: usize) -> Self {
                Self(u32::try_from(place).unwrap_or(u32::MAX)) // files are below 4 GiB
            }

            fn place(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// The number of a statement; the files of a project are numbered one after another.
    StmtId
}
id! {
    /// The number of a scope of a project.
    ScopeId
}
id! {
    /// The number of a file of a project; the script's is the first.
    FileId
}
id! {
    /// The number of a loop of a project, in source order.
    LoopId
}

/// The files of a project stand in a slice.
impl<T> Index<FileId> for [T] {
    type Output = T;

    fn index(&self, id: FileId) -> &T {
        &self[id.place()]
    }
}

/// A list opened by numbers of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdVec<I, T> {
    list: Vec<T>,
    ids: PhantomData<I>,
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self { list: Vec::new(), ids: PhantomData }
    }
}

impl<I: Id, T> IdVec<I, T> {
    /// The same value for each number of another list.
    pub fn all<U>(value: T, others: &IdVec<I, U>) -> Self
    where
        T: Clone,
    {
        Self { list: vec![value; others.len()], ids: PhantomData }
    }

    /// Adds a value and gives its number.
    pub fn push(&mut self, value: T) -> I {
        self.list.push(value);
        I::new(self.list.len() - 1)
    }

    /// The value of a number, made if there is none yet.
    pub fn or_insert_with(&mut self, id: I, value: impl FnMut() -> T) -> &mut T {
        if self.list.len() <= id.place() {
            self.list.resize_with(id.place() + 1, value);
        }
        &mut self.list[id.place()]
    }

    /// The value of a number, if it is one of the list.
    pub fn get(&self, id: I) -> Option<&T> {
        self.list.get(id.place())
    }

    /// Puts the values in order.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
        self.list.sort_by_key(key);
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The numbers, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.list.len()).map(I::new)
    }

    /// The values, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.list.iter()
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.list.iter_mut()
    }

    /// The numbers and their values, in order.
    pub fn enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.list.iter().enumerate().map(|(at, value)| (I::new(at), value))
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.list[id.place()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.list[id.place()]
    }
}

impl<I, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<V: IntoIterator<Item = T>>(values: V) -> Self {
        Self { list: values.into_iter().collect(), ids: PhantomData }
    }
}

impl<I, T> IntoIterator for IdVec<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'v, I, T> IntoIterator for &'v IdVec<I, T> {
    type Item = &'v T;
    type IntoIter = std::slice::Iter<'v, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl<'v, I, T> IntoIterator for &'v mut IdVec<I, T> {
    type Item = &'v mut T;
    type IntoIter = std::slice::IterMut<'v, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter_mut()
    }
}
