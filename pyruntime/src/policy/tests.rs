use proptest::prelude::*;

use super::*;

#[test]
fn the_equations_are_the_papers() {
    // fine-tuning: M/C = 2, so with ε = 1/15 the first checkpoint comes after the 30th execution
    let first = (1..100).find(|n| joint_invariant_holds(*n, 0, 2.0, 1.0, 1.0, 1.0 / 15.0));
    assert_eq!(first, Some(31));
    // cheap checkpoints are taken every time
    assert!((1..1000).all(|n| joint_invariant_holds(n, n - 1, 0.01, 1.0, 1.0, 1.0 / 15.0)));
    // with a very expensive restore, the replay latency decides
    assert!(!joint_invariant_holds(1, 0, 0.05, 1.0, 30.0, 1.0 / 15.0));
    assert!(record_overhead_holds(31, 1, 2.0, 1.0, 1.0 / 15.0) && !record_overhead_holds(30, 1, 2.0, 1.0, 1.0 / 15.0));
    assert!(replay_latency_holds(4, 1, 2.0, 1.9, 1.0) && !replay_latency_holds(4, 1, 2.0, 2.0, 1.0));
    assert!(replay_latency_holds_at_ratio(5, 1, 2.0, 1.0, 1.0) && !replay_latency_holds_at_ratio(4, 1, 2.0, 1.0, 1.0));
}

#[test]
fn a_block_is_tried_once_when_nothing_is_known() {
    let mut policy = Policy::new(1.0 / 15.0, 1.0);
    assert!(!policy.admits(&"epoch", None), "nothing was computed yet");
    policy.observe_compute("epoch", 1.0);
    assert!(policy.admits(&"epoch", None));
    assert!(!policy.admits(&"epoch", Some(0.1)));
    policy.observe_materialize("epoch", 0.5);
    assert!(!policy.admits(&"epoch", None));
    for _ in 0..15 {
        policy.observe_compute("epoch", 1.0);
    }
    assert!(policy.admits(&"epoch", None));
    policy.add_background("epoch", 1.0);
    assert!(!policy.admits(&"epoch", None), "background work belongs to M");
}

#[test]
fn the_global_guard_counts_everything() {
    let mut policy = Policy::new(0.1, 1.0);
    policy.observe_compute(1, 100.0);
    assert!(policy.admits(&1, Some(1.0)));
    policy.charge(9.5);
    assert!(!policy.admits(&1, Some(1.0)));
    policy.elapsed(200.0);
    assert!(policy.admits(&1, Some(1.0)));
    assert_eq!(policy.charged(), 9.5);
}

#[test]
fn what_is_done_once_is_paid_for_over_time() {
    let mut policy = Policy::new(0.1, 1.0);
    policy.charge_once(1.0);
    policy.observe_compute(1, 1.0);
    policy.elapsed(1.0);
    assert!(policy.admits(&1, Some(0.04)), "half of what florc may take is left");
    assert!(!policy.admits(&1, Some(0.06)), "and no more");
    policy.elapsed(29.0);
    policy.observe_compute(1, 29.0);
    assert!(!policy.admits(&1, Some(2.1)) && policy.admits(&1, Some(1.9)), "in the end it counts in full");
    assert_eq!(policy.charged(), 1.0);
}

#[test]
fn odd_times_do_not_open_the_gate() {
    let mut policy = Policy::new(f64::NAN, -1.0);
    policy.observe_compute(1, f64::NAN);
    policy.observe_compute(1, f64::INFINITY);
    assert!(!policy.admits(&1, Some(0.0)));
    let mut policy = Policy::new(0.1, 1.0);
    policy.observe_compute(1, 1.0);
    assert!(!policy.admits(&1, Some(f64::INFINITY)));
    policy.observe_materialize(1, -5.0);
    assert_eq!(policy.charged(), 0.0);
}

proptest! {
    /// Eq. 1 holds per block and over the run, whatever the times, when predictions come true.
    #[test]
    fn record_overhead_never_exceeds_the_tolerance(
        steps in prop::collection::vec((0usize..3, 1e-6f64..100.0, 1e-6f64..100.0), 1..400),
        tolerance in 0.001f64..0.5,
        ratio in 0.0f64..40.0,
    ) {
        let mut policy = Policy::new(tolerance, ratio);
        let mut sums = [(0.0f64, 0.0f64); 3];
        for (block, compute, materialize) in steps {
            policy.observe_compute(block, compute);
            sums[block].0 += compute;
            if policy.admits(&block, Some(materialize)) {
                policy.observe_materialize(block, materialize);
                sums[block].1 += materialize;
            }
            let slack = 1.0 + 1e-9;
            prop_assert!(sums[block].1 <= tolerance * sums[block].0 * slack);
            let times = policy.times(&block);
            if times.checkpoints > 0 {
                let (k, n) = (times.checkpoints, times.executions);
                let (m, c) = (times.materialize_s / k as f64, times.compute_s / n as f64);
                prop_assert!(replay_latency_holds_at_ratio(n, k, m, c * slack, ratio));
            }
        }
    }

    /// The sum of everything charged stays below ε of the wall time when charges come before the
    /// question.
    #[test]
    fn the_run_never_pays_more_than_the_tolerance(
        steps in prop::collection::vec((0usize..3, 0.01f64..10.0, 0.0f64..10.0), 1..300),
        tolerance in 0.001f64..0.5,
    ) {
        let mut policy = Policy::new(tolerance, 1.0);
        let mut wall = 0.0;
        for (block, compute, materialize) in steps {
            // blocks that overlap: the wall clock goes slower than their sum
            policy.observe_compute(block, compute);
            policy.elapsed(compute / 2.0);
            wall += compute / 2.0;
            if policy.admits(&block, Some(materialize)) {
                policy.observe_materialize(block, materialize);
            }
            prop_assert!(policy.charged() <= tolerance * wall * (1.0 + 1e-9));
        }
    }
}
