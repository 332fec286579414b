//! Places: a name with an attribute chain.

use crate::knowledge::{Knowledge, List};
use crate::name::Name;
use crate::scopes::ScopeId;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// A name and an attribute chain, such as `self.optimizer`, in the scope that owns the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The scope that owns the name; `None` when no scope of the file binds it.
    pub home: Option<ScopeId>,
    /// The name.
    pub root: Name,
    /// The attributes, outermost object first.
    pub attrs: Attrs,
}

/// Longer chains stand for the object that this many attributes reach.
const MAX_ATTRS: usize = 4;

/// An attribute chain: its names, and [`Name::NONE`] behind them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attrs([Name; MAX_ATTRS]);

impl Attrs {
    /// No attribute.
    pub const NONE: Attrs = Attrs([Name::NONE; MAX_ATTRS]);

    /// The first so many of them.
    #[must_use]
    pub fn first(mut self, count: usize) -> Self {
        self.0.iter_mut().skip(count).for_each(|attr| *attr = Name::NONE);
        self
    }

    fn push(&mut self, attr: Name) {
        if let Some(free) = self.0.iter_mut().find(|known| **known == Name::NONE) {
            *free = attr;
        }
    }
}

impl Deref for Attrs {
    type Target = [Name];

    fn deref(&self) -> &[Name] {
        let end = self.0.iter().position(|attr| *attr == Name::NONE).unwrap_or(MAX_ATTRS);
        &self.0[..end]
    }
}

impl FromIterator<Name> for Attrs {
    fn from_iter<I: IntoIterator<Item = Name>>(names: I) -> Self {
        let mut attrs = Self::NONE;
        names.into_iter().for_each(|name| attrs.push(name));
        attrs
    }
}

impl fmt::Debug for Attrs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl Place {
    /// The place of a plain name.
    pub fn name(home: Option<ScopeId>, root: impl Into<Name>) -> Self {
        Self { home, root: root.into(), attrs: Attrs::NONE }
    }

    /// The place one attribute further. Attributes that only give another view of the same data stay on the object.
    #[must_use]
    pub fn attr(self, attr: impl Into<Name>) -> Self {
        self.reaching(attr.into())
    }

    fn reaching(mut self, attr: Name) -> Self {
        let is_view = Knowledge::shipped().lists(List::Views, &attr);
        if !is_view {
            self.attrs.push(attr);
        }
        self
    }

    /// This place with more attributes.
    #[must_use]
    pub fn extend(&self, attrs: &[Name]) -> Self {
        attrs.iter().fold(*self, |place, attr| place.reaching(*attr))
    }

    /// Whether `other` is this place or lies below it.
    pub fn covers(&self, other: &Place) -> bool {
        self.home == other.home && self.root == other.root && other.attrs.starts_with(&self.attrs)
    }
}

/// Places are hashed more often than anything else: what sets most of them apart is enough.
impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.root.hash(state);
        let Attrs([first, second, ..]) = self.attrs;
        if first != Name::NONE {
            first.hash(state);
            second.hash(state);
        }
        if let Some(home) = self.home {
            home.hash(state);
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        self.attrs.iter().try_for_each(|attr| write!(f, ".{attr}"))
    }
}
