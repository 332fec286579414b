//! Work on many files: threads that share it, and are gone when it is done.

use super::deep::{DEEP_STACK, deepened};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder, ScopedJoinHandle};

/// What `work` makes of each item, in the order of the items. Where there are several, and they are not `small` all together,
/// as many threads as there are processors share them, each with [`DEEP_STACK`] bytes of stack. No thread is left afterwards.
///
/// The thread that asks works, too, with the stack that it has.
///
/// # Panics
/// When `work` does.
pub fn on_deep_stacks<I: Send, T: Send>(items: Vec<I>, small: bool, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(items.len());
    if small || threads < 2 {
        return items.into_iter().map(work).collect();
    }
    let left = Mutex::new(items.into_iter().enumerate());
    let take = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let share = || {
        let mut made = Vec::new();
        while let Some((at, item)) = take() {
            made.push((at, work(item)));
        }
        made
    };
    let mut made = thread::scope(|scope| {
        let start = |_| Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, || deepened(share));
        // Where there is no thread to be had, those that there are do the work.
        let helpers: Vec<ScopedJoinHandle<_>> = (1..threads).map_while(|at| start(at).ok()).collect();
        let mut made = share();
        for helper in helpers {
            match helper.join() {
                Ok(theirs) => made.extend(theirs),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        made
    });
    made.sort_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::on_deep_stacks;

    #[test]
    fn what_is_made_stands_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        for small in [true, false] {
            assert_eq!(on_deep_stacks(items.clone(), small, |item| item * 2), (0..2000).step_by(2).collect::<Vec<_>>());
        }
        assert!(on_deep_stacks(Vec::<u8>::new(), false, |item| item).is_empty());
    }

    #[test]
    fn one_item_starts_no_thread() {
        let here = std::thread::current().id();
        assert_eq!(on_deep_stacks(vec![0], false, |_| std::thread::current().id()), [here]);
    }

    #[test]
    #[should_panic(expected = "item 7")]
    fn a_panic_is_that_of_the_caller() {
        on_deep_stacks((0..100).collect(), false, |item: usize| assert!(item != 7, "item {item}"));
    }

    #[test]
    fn recursion_is_as_deep_as_it_may_be_in_each() {
        fn depth(n: usize) -> usize {
            let room = std::hint::black_box([n; 64]);
            if n == 0 { room[0] } else { 1 + depth(n - 1) }
        }
        let deep = |n: usize| crate::syntax::on_deep_stack(super::DEEP_STACK, || depth(n));
        assert_eq!(on_deep_stacks(vec![50_000; 8], false, deep), [50_000; 8]);
    }
}
