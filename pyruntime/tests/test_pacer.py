"""What a recording spends time on (`record/pacer.py`), told with a clock of the test's own."""

from __future__ import annotations

import pytest
from florc.record.pacer import (
    BETWEEN_LOOKS_S,
    DEAR,
    FIRST_LOOKS_S,
    FIRST_WALK_S,
    LEAST_SHARE,
    LOOKS,
    MEASURED_S,
    MOST_PASSED_S,
    SPACING,
    SURVEY_SHARE,
    Pacer,
)

EPSILON = 1 / 15
BLOCK, OTHER = "L1", "L2"


class Clock:
    """The time, and the processor time that this process used, in seconds."""

    def __init__(self) -> None:
        self.now, self.used = 100.0, 10.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


def pacer(clock: Clock, overhead: float = EPSILON, cores: int = 2) -> Pacer:
    return Pacer(overhead, clock.now, lambda: clock.now, lambda: clock.used, cores)


def test_first_looks_are_as_many_as_the_run_can_bear(clock: Clock) -> None:
    one = pacer(clock)
    assert not one.passes_by(BLOCK)
    one.looked_first(2 * FIRST_LOOKS_S)
    assert one.passes_by(BLOCK)
    clock.now += 3 * FIRST_LOOKS_S / (SURVEY_SHARE * EPSILON)  # a longer run has more time
    assert not one.passes_by(BLOCK)
    one.looked_first(1.0)
    one.surveyed(BLOCK, 0.001)
    assert not one.passes_by(BLOCK) and one.passes_by(OTHER), "what was looked at once is no first look"


def test_a_block_is_surveyed_as_long_as_both_surveys_take_a_small_part_of_its_time(clock: Clock) -> None:
    one = pacer(clock)
    assert one.surveys(BLOCK, False) and one.is_new(BLOCK)
    one.surveyed(BLOCK, 0.001)
    enough = 2 * 0.001 / (SURVEY_SHARE * EPSILON)
    for computed, expected in ((1.01 * enough, True), (0.99 * enough, False)):
        one.ran(BLOCK, computed)
        assert one.surveys(BLOCK, False) == expected
    assert one.surveys(BLOCK, True), "while it is doubted, whatever that takes"
    assert pacer(clock, float("inf")).surveys(BLOCK, False)


def test_short_blocks_are_passed_by_so_often_that_looking_stays_within_the_overhead(clock: Clock) -> None:
    one = pacer(clock)
    clock.now += 1.0
    assert [one.looked_in_vain(BLOCK, 0.001, 0.005) for _ in range(LOOKS - 1)] == [(0, 0.0)] * (LOOKS - 1)
    passed = one.looked_in_vain(BLOCK, 0.001, 0.005)
    assert passed == (int(0.2 / EPSILON), 0.0), "a look takes a fifth of the block: with those passed by it is a fifteenth"
    assert one.looked_in_vain(OTHER, 0.001, 0.005) == (0, 0.0)


def test_looks_in_vain_stay_within_the_overhead_where_executions_are_nested(clock: Clock) -> None:
    """Each execution of a recursive function says that it computed all that those inside it did."""
    one, began, looks = pacer(clock), clock.now, 0
    until = 0.0
    for _ in range(200_000):  # of a microsecond each
        clock.now += 1e-6
        if clock.now < until:
            continue
        looks += 1
        clock.now += 1e-4
        _, seconds = one.looked_in_vain(BLOCK, 1e-4, 1.0)
        until = clock.now + seconds
    computed = clock.now - began - looks * 1e-4
    assert looks > LOOKS and looks * 1e-4 <= EPSILON * computed + (LOOKS + 1) * 1e-4
    assert one.looked_in_vain(BLOCK, 1e6, 1.0)[1] == MOST_PASSED_S


@pytest.mark.parametrize("overhead", [EPSILON, 0.0])
def test_no_more_executions_are_passed_by_than_were_looked_at(overhead: float, clock: Clock) -> None:
    one = pacer(clock, overhead)
    assert [one.looked_in_vain(BLOCK, 1.0, 0.0)[0] for _ in range(LOOKS)][-1] == LOOKS


def test_a_long_block_is_never_passed_by(clock: Clock) -> None:
    one = pacer(clock)
    for _ in range(10 * LOOKS):
        clock.now += 1.0
        assert one.looked_in_vain(BLOCK, 0.001, 1.0) == (0, 0.0)


def test_a_running_loop_is_looked_at_by_the_dearest_of_three_limits(clock: Clock) -> None:
    one, begun = pacer(clock), clock.now
    assert one.until_next_look(BLOCK, begun) == BETWEEN_LOOKS_S
    clock.now += 10 * SPACING
    assert one.until_next_look(BLOCK, begun) == pytest.approx(10)
    assert one.until_next_look(BLOCK, begun, looking=1.0) == DEAR
    one.policy.observe_materialize(BLOCK, 2.0)
    assert one.until_next_look(BLOCK, begun, looking=1.0) == 2 * DEAR
    assert pacer(clock, float("inf")).until_next_look(BLOCK, begun) == 0.0


def test_a_checkpoint_is_taken_once_the_run_can_bear_what_it_costs(clock: Clock) -> None:
    one = pacer(clock)
    ran = []
    while not one.admits(BLOCK):
        clock.now += 0.01
        one.computed(BLOCK, 0.01)
        ran.append(0.01)
    assert sum(ran) == pytest.approx(FIRST_WALK_S / EPSILON, rel=0.4)
    assert not one.admits(BLOCK, 1.0) and one.executions(BLOCK) == len(ran) and one.checkpoints(BLOCK) == 0


def test_a_walk_is_the_measure_of_the_next(clock: Clock) -> None:
    one = pacer(clock)
    clock.now += 100
    one.computed(BLOCK, 100)
    one.walked(BLOCK, 5.0, 1.0, 0)
    assert one.admits(BLOCK) and one.policy.charged == 0.0, "nothing is taken yet"
    one.walked(BLOCK, 7.0, 0.0, 0)
    assert not one.admits(BLOCK)


def test_what_is_done_once_does_not_hold_back_the_first_checkpoints(clock: Clock) -> None:
    one = pacer(clock)
    clock.now += 1
    one.computed(BLOCK, 1)
    one.policy.charge_once(5.0)
    assert one.admits(BLOCK, 0.4 * EPSILON) and not one.admits(BLOCK, 0.6 * EPSILON)


@pytest.mark.parametrize("used, share", [(1.0, LEAST_SHARE), (1.5, 0.5), (2.0, 1.0), (9.0, 1.0)])
def test_background_work_costs_what_it_takes_of_the_cores_that_are_in_use(used: float, share: float, clock: Clock) -> None:
    one = pacer(clock)
    first = one.share()
    clock.now, clock.used = clock.now + MEASURED_S / 2, clock.used + used * MEASURED_S / 2
    assert one.share() == first, "too soon"
    clock.now, clock.used = clock.now + MEASURED_S, clock.used + used * MEASURED_S
    assert one.share() == pytest.approx(share)
    assert one.background(10**9) == pytest.approx(share)


def test_all_that_florc_takes_counts_against_the_limit(clock: Clock) -> None:
    one = pacer(clock)
    one.took(0.02)  # before the first block
    clock.now += 1.0
    one.computed(BLOCK, 1.0)
    assert one.admits(BLOCK, 0.4 * EPSILON), "what was taken once is paid for over time"
    one.materialized(BLOCK, 0.4 * EPSILON)
    one.took_once(0.01)
    one.took(0.03 + 0.4 * EPSILON)
    assert one.policy.charged == pytest.approx(0.03 + 0.4 * EPSILON), "a checkpoint is not counted twice"
    one.took(0.03 + 1.5 * EPSILON)  # looking at blocks that are not kept, lines of the journal
    clock.now += 1.0
    one.computed(BLOCK, 1.0)
    assert not one.admits(BLOCK, 0.4 * EPSILON)
