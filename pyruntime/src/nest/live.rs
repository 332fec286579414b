//! The loop nest of the session that follows now.

use super::levels::Nest;
use crate::guard::interrupts;
use crate::locks::lock;
use std::sync::Mutex;

pub(super) static NEST: Mutex<Option<Nest>> = Mutex::new(None);

pub(super) fn with_nest<T: Default>(work: impl FnOnce(&mut Nest) -> T) -> T {
    let mut nest = lock(&NEST);
    let Some(nest) = nest.as_mut() else { return T::default() };
    interrupts::keep_place(|| nest.path());
    work(nest)
}
