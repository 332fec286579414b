"""When a forked child encodes a checkpoint (`record/fork_policy.py`): numbers in, a decision out."""

from __future__ import annotations

import pytest
from florc.record import fork_policy
from florc.record.fork_policy import DEATHS, FAULT_S, LEAST_WALK_S, LONGEST_DEADLINE_S, SHORTEST_DEADLINE_S, Walk

GIB = 1 << 30
WALK = Walk(seconds=0.1, nbytes=GIB, chunks=100)


@pytest.mark.parametrize("resident, share, cheaper", [(GIB, 0.05, True), (GIB, 1.0, False), (20 * GIB, 0.05, False)])
def test_a_clone_pays_on_idle_cores_and_while_the_process_is_small(resident: int, share: float, cheaper: bool) -> None:
    cost = fork_policy.expected(WALK, fork_policy.clone_of(resident), share)
    assert fork_policy.is_cheaper(WALK, cost) == cheaper


@pytest.mark.parametrize("cost, cheaper", [(0.099, True), (0.1, False)])
def test_a_child_encodes_where_that_costs_less_than_the_walk(cost: float, cheaper: bool) -> None:
    assert fork_policy.is_cheaper(WALK, cost) == cheaper


@pytest.mark.parametrize("seconds, cheaper", [(LEAST_WALK_S, True), (0.99 * LEAST_WALK_S, False)])
def test_a_short_walk_is_never_worth_a_process(seconds: float, cheaper: bool) -> None:
    assert fork_policy.is_cheaper(Walk(seconds, 1000, 3), 0.0) == cheaper


@pytest.mark.parametrize("deaths, in_vain, given_up", [(DEATHS - 1, DEATHS - 1, False), (DEATHS, 0, True), (0, DEATHS, True)])
def test_children_that_end_too_soon_are_given_up(deaths: int, in_vain: int, given_up: bool) -> None:
    assert fork_policy.is_given_up(deaths, in_vain) == given_up


def test_what_a_child_took_is_its_time_on_busy_cores_and_the_pages_that_were_copied() -> None:
    assert fork_policy.background(2.0, 0, 0.5) == 1.0
    assert fork_policy.background(0.0, 1000, 0.5) == pytest.approx(1000 * FAULT_S)


def test_the_next_checkpoint_has_room_to_grow() -> None:
    room = fork_policy.room(WALK)
    assert 1.2 * GIB < room < 1.3 * GIB
    many = Walk(0.1, 0, 100_000)
    assert fork_policy.room(many) > 100_000 * 64, "each chunk is padded"


@pytest.mark.parametrize("seconds, deadline", [(0.001, SHORTEST_DEADLINE_S), (1.0, 20.0), (100.0, LONGEST_DEADLINE_S)])
def test_a_child_may_take_some_times_as_long_as_the_main_thread(seconds: float, deadline: float) -> None:
    assert fork_policy.deadline(Walk(seconds, 0, 1)) == deadline
