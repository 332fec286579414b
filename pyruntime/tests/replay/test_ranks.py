"""Ranks that a launcher started: recorded as one run, replayed together, compared with plain runs of the same ranks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from florc import _native
from florc.process import launcher, start
from launched import AFTER_EPOCH, IN_STEP, PLAIN, RECORD, free_port, probed, project, ranks, told, truth_of
from workshop import Workshop


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("probe", [AFTER_EPOCH, IN_STEP], ids=["after the collective", "inside"])
def test_each_rank_answers_as_it_would_have(workshop: Workshop, count: int, probe: tuple[str, str]) -> None:
    project(workshop)
    plain = ranks(workshop, count, "train.py")
    recorded = ranks(workshop, count, *RECORD)
    assert [rank.out for rank in recorded] == [rank.out for rank in plain]
    assert [rank.code for rank in recorded] == [0] * count
    assert f"the first of {count} ranks" in recorded[0].err
    assert not any(rank.err for rank in recorded[1:])

    truth = truth_of(workshop, count, probed(PLAIN, probe))
    done = workshop.florc("replay", "train.py")
    assert done.out == "".join(truth)
    assert "exact" in done.said and done.code == 0, done.said
    if probe is AFTER_EPOCH:  # the loop of steps in all ranks, and that of the first rank alone
        assert "10 blocks restored" in done.said, done.said
    one = workshop.florc("replay", "--rank", "1", "train.py")
    assert one.out == truth[1]


def test_values_name_their_rank(workshop: Workshop) -> None:
    project(workshop)
    ranks(workshop, 2, *RECORD)
    truth = truth_of(workshop, 2, probed(PLAIN, AFTER_EPOCH))
    done = workshop.florc("replay", "--json", "train.py")
    entries = [json.loads(line) for line in done.out.splitlines()]
    for number in range(2):
        assert [entry["text"] for entry in entries if entry.get("rank") == number] == truth[number].splitlines()
    assert entries[-1]["verdict"] == "exact"
    *values, told = map(json.loads, workshop.florc("replay", "--rank", "1", "--json", "train.py").out.splitlines())
    assert [entry["text"] for entry in values] == truth[1].splitlines() and told["verdict"] == "exact"
    table = workshop.florc("replay", "--rank", "1", "--format", "csv", "train.py").out
    assert len(table.splitlines()) == 1 + sum(len(entry["values"]) for entry in values)


def test_questions_one_after_the_other_are_answered_by_all_ranks(workshop: Workshop) -> None:
    project(workshop)
    ranks(workshop, 2, *RECORD)
    truth = truth_of(workshop, 2, probed(PLAIN, AFTER_EPOCH))
    questions = subprocess.run(
        [sys.executable, "-m", "florc", "replay", "--interactive", "train.py"],
        cwd=workshop.path,
        env=workshop.environment(),
        input="\n--rank 1\n",
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    assert questions.stdout == truth[0] + truth[1] + truth[1] and questions.stderr.count("exact: ") == 2, questions.stderr


def test_what_only_some_ranks_kept_is_run_by_all(workshop: Workshop) -> None:
    """Else the rank that runs it would wait for those that restore it."""
    project(workshop)
    ranks(workshop, 2, *RECORD)
    packs = sorted((workshop.path / ".florc" / "packs").glob("*-1-*.pack"))
    packs[0].unlink()
    truth = truth_of(workshop, 2, probed(PLAIN, AFTER_EPOCH))
    done = workshop.florc("replay", "train.py")
    assert done.out == "".join(truth)
    assert "what was kept of it cannot be read" in done.said and "exact" in done.said, done.said
    assert workshop.florc("check").code == 1


def test_a_rank_that_keeps_less_decides_for_all(workshop: Workshop) -> None:
    """The ranks may be given other options; a rank may have no room."""
    project(workshop)
    least = ("-m", "florc", "record", "--checkpoint", "every", "--max-disk", "1K", "train.py")
    ranks(workshop, 2, *RECORD, each={1: least})
    truth = truth_of(workshop, 2, probed(PLAIN, AFTER_EPOCH))
    done = workshop.florc("replay", "train.py")
    assert done.out == "".join(truth)
    assert "exact" in done.said and "another one may have waited" not in done.said, done.said


def test_what_a_rank_did_after_another_was_killed_is_not_answered(workshop: Workshop) -> None:
    """It goes on alone; what the other one would have done is not known."""
    text = """
        import time
        from meeting import meet, rank

        for epoch in range(12):
            if epoch < 3:
                meet()
            for step in range(3):
                time.sleep(0.03 + 0.2 * rank)
            print("epoch", epoch, flush=True)
    """
    project(workshop, text)

    def kill(started: list[subprocess.Popen[str]]) -> None:
        assert started[1].stdout is not None
        while "epoch 4" not in started[1].stdout.readline():
            assert started[1].poll() is None
        started[1].kill()

    first, _ = ranks(workshop, 2, *RECORD, meanwhile=kill)
    assert first.code == 0 and "epoch 11" in first.out
    workshop.write("train.py", text.rstrip() + '\n            print("P", epoch)\n')
    done = workshop.florc("replay", "train.py")
    count = len(done.out.splitlines()) // 2
    assert 4 <= count < 12, done
    assert done.out == "".join(f"P {epoch}\n" for epoch in range(count)) * 2
    assert "ANOMALOUS" not in done.said, done.said


@pytest.mark.parametrize("victim", [0, 1])
def test_a_run_of_which_a_rank_is_killed_is_answered_as_far_as_all_came(workshop: Workshop, victim: int) -> None:
    slow = PLAIN.replace("range(5)", "range(40)").replace("        meet()", "        meet()\n        time.sleep(0.05)")
    slow = slow.replace('print("epoch", epoch, state[-4])', 'print("epoch", epoch, state[-4], flush=True)')
    project(workshop, slow)

    def kill(started: list[subprocess.Popen[str]]) -> None:
        assert started[0].stdout is not None
        while "epoch 6" not in started[0].stdout.readline():
            assert started[0].poll() is None
        started[victim].kill()
        time.sleep(0.3)
        for process in started:
            process.terminate()

    ranks(workshop, 2, *RECORD, meanwhile=kill)
    truth = truth_of(workshop, 2, probed(slow, AFTER_EPOCH))
    done = workshop.florc("replay", "train.py")
    both = done.out.splitlines(True)
    own, other = both[: len(both) // 2], both[len(both) // 2 :]
    assert len(own) >= 5
    assert ("".join(own), "".join(other)) == tuple("".join(known.splitlines(True)[: len(own)]) for known in truth)
    assert "answered up to epoch=" in done.said and "ANOMALOUS" not in done.said, done.said


def test_a_file_that_one_rank_writes_is_read_by_the_others(workshop: Workshop) -> None:
    text = PLAIN.replace(
        "        meet()",
        """        if rank == 0:
            with open("best.txt", "w") as file:
                file.write(str(epoch * 10))
        meet()
        best = open("best.txt").read()
        meet() """,
    )
    project(workshop, text)
    ranks(workshop, 2, *RECORD)
    truth = truth_of(workshop, 2, probed(text, ("        meet() ", 'print("P", epoch, best, state[-1])')))
    (workshop.path / "best.txt").write_text("the user's own")
    done = workshop.florc("replay", "train.py")
    assert done.out == "".join(truth)
    assert (workshop.path / "best.txt").read_text() == "the user's own"
    assert "exact" in done.said, done.said


def test_ranks_find_each_other_where_others_met_before(workshop: Workshop) -> None:
    """What earlier ranks left, which were killed and met at the same port."""
    project(workshop)
    folder = workshop.path / ".florc" / "ranks"
    folder.mkdir(parents=True)
    variables = told(0, 2, 4711)
    from florc.record.ranks import Together

    stale = Together(str(workshop.path / ".florc"), launcher.Rank(0, 2, variables))
    Path(stale._meeting).write_text("20200101-000000-abcdef")
    ranks(workshop, 2, *RECORD)
    assert "(2 ranks)" in workshop.florc("runs").out


def test_loops_that_talk_to_each_other_run_in_all_ranks(workshop: Workshop) -> None:
    """The first rank restores a loop that only it runs, while another one waits for what it sends."""
    text = (
        PLAIN[: PLAIN.index("    def look")]
        + """
    def serve():
        for step in range(6):
            state[0] = add_up(state[0])
            time.sleep(0.001)

    def work():
        for step in range(6):
            state[0] = add_up(step / 7) * 0.5

    for epoch in range(3):
        serve() if rank == 0 else work()
        print("epoch", epoch, state[0])
"""
    )
    project(workshop, text)
    ranks(workshop, 2, *RECORD)
    truth = truth_of(workshop, 2, probed(text, ("        serve() if rank == 0 else work()", 'print("P", epoch, state[0])')))
    done = workshop.florc("replay", "train.py")
    assert done.out == "".join(truth)
    assert "exact" in done.said and "another one may have waited" in done.said, done.said


def test_ranks_of_several_machines_meet_in_a_folder_that_they_share(workshop: Workshop) -> None:
    project(workshop)
    shared = os.fspath(workshop.path / "shared")
    recorded = ranks(workshop, 4, *RECORD, of_machine=2, FLORC_DIR=shared)
    assert "the first of 4 ranks" in recorded[0].err and not any(rank.err for rank in recorded[1:])
    truth = truth_of(workshop, 4, probed(PLAIN, AFTER_EPOCH))
    done = subprocess.run(
        [sys.executable, "-m", "florc", "replay", "train.py"],
        cwd=workshop.path,
        env={**workshop.environment(), "FLORC_DIR": shared},
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    assert done.stdout == "".join(truth) and "exact: " in done.stderr and "10 blocks restored" in done.stderr, done.stderr


def test_what_cannot_be_recorded_together_runs_all_the_same(workshop: Workshop) -> None:
    workshop.write("train.py", "print('trained')")
    for variables, why in (
        ({"RANK": "0", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2", "MASTER_PORT": "1"}, "several machines: .* FLORC_DIR"),
        ({"WORLD_SIZE": "4"}, "no RANK tells which"),
        ({"OMPI_COMM_WORLD_SIZE": "2"}, "no RANK tells which"),
        ({"RANK": "0", "WORLD_SIZE": "2"}, "no MASTER_PORT"),
        ({"RANK": "2", "WORLD_SIZE": "2", "MASTER_PORT": "1"}, "RANK is 2"),
    ):
        with pytest.raises(ValueError, match=why):
            launcher.rank(variables)
    done = subprocess.run(
        [sys.executable, "-m", "florc", "record", "train.py"],
        cwd=workshop.path,
        env={**workshop.environment(), "WORLD_SIZE": "4"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "trained\n" and "nothing is recorded" in done.stderr


def test_one_rank_alone_has_its_variables_again(workshop: Workshop) -> None:
    text = """
        import os
        for epoch in range(3):
            total = sum(range(epoch, 50_000))
            print(os.environ["LOCAL_RANK"], total)
        """
    workshop.write("train.py", text)
    ranks(workshop, 1, *RECORD)
    workshop.write("train.py", text + '    print("P", os.environ["RANK"])\n')
    done = workshop.florc("replay", "train.py")
    assert done.out == "P 0\n" * 3 and "exact" in done.said, done.said


def test_what_needs_one_process_says_so(workshop: Workshop) -> None:
    project(workshop)
    ranks(workshop, 2, *RECORD)
    for words in (("replay", "--workers", "2", "train.py"), ("verify",), ("replay", "--rank", "7", "train.py")):
        done = workshop.florc(*words)
        assert done.code == 2 and "F106" in done.said, done
    assert workshop.florc("replay", "--dry-run", "train.py").code == 0
    (workshop.path / ".florc" / "runs").joinpath(os.listdir(workshop.path / ".florc" / "runs")[0], "journal.1").unlink()
    done = workshop.florc("replay", "train.py")
    assert done.code == 2 and "journal.1" in done.said and "Traceback" not in done.err, done


def test_options_with_a_value_are_those_of_the_command_line() -> None:
    """`florc record OPTIONS -m torch.distributed.run …` hands them on."""
    code, told = _native.command_line(["florc", "record", "--name", "a", "train.py"])
    assert told is not None, code
    taking = set()
    for option in re.findall(r"--[a-z-]+", _help("record")):
        if _native.command_line(["florc", "record", option, "=", "train.py"])[1] is None and option not in ("--help", "--module"):
            taking.add(option)
    assert taking == set(start._WITH_VALUE)


def _help(command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "florc", command, "--help"], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


DDP = """
    import torch, torch.distributed as dist
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    layers = nn.Sequential(nn.Linear(20, 300), nn.ReLU(), nn.Dropout(0.1), nn.Linear(300, 301), nn.ReLU(), nn.Linear(301, 3))
    model = DistributedDataParallel(layers, bucket_cap_mb=0.2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    torch.manual_seed(100 + rank)

    def step():
        optimizer.zero_grad()
        loss = model(torch.randn(8, 20)).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    for epoch in range(5):
        for _ in range(8):
            loss = step()
        total = torch.tensor(loss)
        dist.all_reduce(total)
        print("epoch", epoch, total.item() / world)
    for last in range(3):
        loss = step()
    dist.barrier()
    dist.destroy_process_group()
"""


def test_ddp_adds_up_in_the_buckets_of_the_record(workshop: Workshop) -> None:
    """With more than two ranks, the order in which gradients are added depends on buckets that the reducer makes while it trains.
    (`state/ddp.py`; without it, the last bits of these values differ.)"""
    workshop.write("train.py", DDP)
    assert all("epoch 4" in rank.out for rank in ranks(workshop, 4, *RECORD))
    norm = 'print("P", last, sum(p.double().sum().item() for p in model.parameters()))'
    truth = truth_of(workshop, 4, probed(DDP, ("    for last in range(3):\n        loss = step()", norm)))
    done = workshop.florc("replay", "train.py")
    assert done.out == "".join(truth)
    assert "5 blocks restored" in done.said and "exact" in done.said, done.said


FSDP = """
    import torch, torch.distributed as dist
    from torch import nn
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (world,))
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(20, 101), nn.ReLU(), nn.Dropout(0.1), nn.Linear(101, 100), nn.ReLU(), nn.Linear(100, 3))
    for part in model:
        if isinstance(part, nn.Linear):
            fully_shard(part, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    torch.manual_seed(100 + rank)

    def step():
        optimizer.zero_grad()
        loss = model(torch.randn(8, 20)).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        return loss.item()

    for epoch in range(5):
        for _ in range(8):
            loss = step()
        print("epoch", epoch, loss)
    for last in range(3):
        loss = step()
    print("end", loss)
    dist.barrier()
    dist.destroy_process_group()
"""


def test_parts_of_parameters_are_restored_in_each_rank(workshop: Workshop) -> None:
    """`fully_shard`: DTensors in the model and the optimizer, of which each rank has a part."""
    workshop.write("train.py", FSDP)
    assert all("end" in rank.out for rank in ranks(workshop, 2, *RECORD))
    norm = 'print("P", last, sum(p.full_tensor().double().sum().item() for p in model.parameters()))'
    truth = truth_of(workshop, 2, probed(FSDP, ("    for last in range(3):\n        loss = step()", norm)))
    done = workshop.florc("replay", "train.py")
    assert done.out == "".join(truth)
    assert "5 blocks restored" in done.said and "exact" in done.said, done.said


def test_a_launcher_is_recorded_by_its_ranks(workshop: Workshop) -> None:
    workshop.write("train.py", DDP)
    port = str(free_port())
    launch = ("torch.distributed.run", "--nproc_per_node", "2", "--master-port", port, "train.py")
    plain = workshop.plain("-m", *launch)
    recorded = workshop.florc("record", "--checkpoint", "every", "-m", *launch)
    assert sorted(recorded.out) == sorted(plain.out) and recorded.code == 0
    assert "the first of 2 ranks" in recorded.said, recorded
    workshop.write("train.py", probed(DDP, ("        dist.all_reduce(total)", 'print("P", rank, total.item())')))
    done = workshop.florc("replay", "train.py")
    assert done.out.count("P 0") == done.out.count("P 1") == 5 and "exact" in done.said, done.said


def test_attempts_before_a_restart_are_told_of(workshop: Workshop) -> None:
    workshop.write("train.py", RESTARTED)
    launch = ("torch.distributed.run", "--nproc_per_node", "2", "--max-restarts", "1", "--monitor-interval", "0.1")
    workshop.florc("record", "--checkpoint", "every", "-m", *launch, "--master-port", str(free_port()), "train.py")
    workshop.write("train.py", RESTARTED.replace("        print(", '        print("P", rank, epoch)\n        print(', 1))
    done = workshop.florc("replay", "train.py")
    assert done.out.count("P ") == 6 and "exact" not in done.said, done.said
    assert "the launcher had started these ranks 1 time before" in done.said, done.said


RESTARTED = """
    import os
    import torch

    rank, weights = os.environ["RANK"], torch.zeros(4)
    for epoch in range(3):
        for batch in range(20):
            weights += torch.ones(4) * batch
        print("epoch", rank, epoch, weights[0].item(), flush=True)
    if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        os._exit(7)
"""
