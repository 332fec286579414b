use super::{LoopFacts, Nest};
use std::time::Duration;

fn nest() -> Nest {
    let mut nest = Nest::default();
    for (id, scope, ancestors) in
        [("L1", "m", vec![]), ("L2", "m", vec!["L1"]), ("L3", "m", vec!["L1"]), ("L4", "m:f", vec![])]
    {
        let ancestors = ancestors.into_iter().map(str::to_owned).collect();
        nest.register(
            id.to_owned(),
            LoopFacts { scope: scope.to_owned(), ancestors, is_while: id == "L1", in_reserve: false },
        );
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
        nest.register(id.to_owned(), LoopFacts { scope: "m".to_owned(), ancestors, is_while: true, in_reserve: false });
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
