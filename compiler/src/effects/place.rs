//! Places: a name with an attribute chain.

use crate::knowledge::{Knowledge, List};
use crate::scopes::ScopeId;
use std::fmt;

/// A name and an attribute chain, such as `self.optimizer`, in the scope that owns the name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The scope that owns the name; `None` when no scope of the file binds it.
    pub home: Option<ScopeId>,
    /// The name.
    pub root: String,
    /// The attributes, outermost object first.
    pub attrs: Vec<String>,
}

/// Longer chains stand for the object that this many attributes reach.
const MAX_ATTRS: usize = 4;

impl Place {
    /// The place of a plain name.
    pub fn name(home: Option<ScopeId>, root: impl Into<String>) -> Self {
        Self { home, root: root.into(), attrs: Vec::new() }
    }

    /// The place one attribute further. Attributes that only give another view of the same data stay on the object.
    pub fn attr(mut self, attr: &str) -> Self {
        let is_view = Knowledge::shipped().lists(List::Views, attr);
        if !is_view && self.attrs.len() < MAX_ATTRS {
            self.attrs.push(attr.to_owned());
        }
        self
    }

    /// This place with more attributes.
    pub fn extend(&self, attrs: &[String]) -> Self {
        attrs.iter().fold(self.clone(), |place, attr| place.attr(attr))
    }

    /// Whether `other` is this place or lies below it.
    pub fn covers(&self, other: &Place) -> bool {
        self.home == other.home && self.root == other.root && other.attrs.starts_with(&self.attrs)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        self.attrs.iter().try_for_each(|attr| write!(f, ".{attr}"))
    }
}
