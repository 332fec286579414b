"""Ranks that the script starts itself, by `torch.multiprocessing.spawn`: recorded beside it, replayed where it calls that."""

from __future__ import annotations

import json
import shutil
import socket
import textwrap
from typing import Any

import pytest
from launched import MEETING
from workshop import Workshop

pytest.importorskip("torch")
SCRIPT = """
    import os
    import sys
    import torch
    import torch.multiprocessing as mp

    def train_epoch(model, optimizer, data):
        from meeting import add_up
        total = 0.0
        for batch in data:
            loss = model(batch).square().mean() * float(torch.rand(()))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total = add_up(loss.item())
        return total

    def main(rank, world, port):
        os.environ.update(RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
        from meeting import meet
        torch.manual_seed(rank)
        data, model = torch.randn(12, 4, 8), torch.nn.Linear(8, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for epoch in range(5):
            total = train_epoch(model, optimizer, data)
            meet()
            sys.stdout.write(f"epoch {epoch} {rank} {total}\\n")

    if __name__ == "__main__":
        print("before", flush=True)
        mp.spawn(main, args=(2, sys.argv[1]), nprocs=2)
        print("after")
"""
FIT = """
    import sys
    import torch

    def fit(rank, fails):
        weights = torch.full((4,), float(rank + 1))
        for epoch in range(3):
            for batch in range(20):
                weights += torch.ones(4) * batch
            sys.stdout.write(f"epoch {rank} {epoch} {weights[0].item()}\\n")
        if fails:
            raise ValueError("no luck")
"""
IN_FIT = (
    "weights += torch.ones(4) * batch",
    'sys.stdout.write(f"P {rank} {epoch} {batch} {weights[1].item()}\\n") if batch == 19 else None\n',
)
IN_RANKS = ("meet()\n", 'sys.stdout.write(f"P {rank} {epoch} {model.weight.tolist()}\\n")\n')
IN_SCRIPT = ('print("after")\n', 'print("P script", sys.argv[1:] != [])\n')


def _port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def _probed(text: str, *probes: tuple[str, str]) -> str:
    for after, probe in probes:
        line = next(line for line in text.splitlines(True) if line.strip() == after.strip())
        text = text.replace(line, line + line[: len(line) - len(line.lstrip())] + probe)
    return text


def _answers(out: str) -> list[str]:
    """By rank, as a replay prints them."""
    return sorted(line for line in out.splitlines() if line.startswith("P"))


def test_ranks_of_the_script_are_restored_and_answer(workshop: Workshop) -> None:
    workshop.write("meeting.py", MEETING)
    workshop.write("train.py", SCRIPT)
    plain = workshop.plain("train.py", _port())
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py", _port())
    assert sorted(recorded.out.splitlines()) == sorted(plain.out.splitlines()), recorded
    assert (recorded.code, recorded.err) == (0, plain.err), recorded

    never = ('print("after")\n', "if not sys.argv: print('P never')\n")
    workshop.write("train.py", _probed(SCRIPT, IN_RANKS, IN_SCRIPT, never))
    expected = _answers(workshop.plain("train.py", _port()).out)
    assert len(expected) == 11
    replayed = workshop.florc("replay", "train.py")
    assert _answers(replayed.out) == expected == sorted(replayed.out.splitlines()), replayed
    assert "exact: " in replayed.said and replayed.code == 0, replayed.said
    assert "5 blocks restored" in replayed.said, replayed.said
    *values, told = map(json.loads, workshop.florc("replay", "--json", "train.py").out.splitlines())
    assert sorted(value["text"] for value in values) == expected and told["verdict"] == "exact"
    assert [value["rank"] for value in values if value["text"].startswith("P 1")] == [1] * 5


def test_a_module_of_a_package_spawns_its_ranks(workshop: Workshop) -> None:
    workshop.write("meeting.py", MEETING)
    (workshop.path / "pkg").mkdir()
    workshop.write("pkg/__init__.py", "")
    workshop.write("pkg/train.py", SCRIPT)
    assert workshop.florc("record", "--checkpoint", "every", "-m", "pkg.train", _port()).code == 0
    workshop.write("pkg/train.py", _probed(SCRIPT, IN_RANKS))
    expected = _answers(workshop.plain("-m", "pkg.train", _port()).out)
    replayed = workshop.florc("replay", "pkg/train.py")
    assert _answers(replayed.out) == expected and len(expected) == 10 and "exact: " in replayed.said, replayed


def test_each_call_has_its_own_ranks(workshop: Workshop) -> None:
    text = SCRIPT.replace(
        "        mp.spawn(main, args=(2, sys.argv[1]), nprocs=2)\n",
        """        for fold in range(2):
            mp.spawn(main, args=(2, sys.argv[1 + fold]), nprocs=2)
            print("fold", fold, flush=True)
""",
    ).replace("torch.manual_seed(rank)", "torch.manual_seed(int(port))")
    workshop.write("meeting.py", MEETING)
    workshop.write("train.py", text)
    ports = _port(), _port()
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py", *ports)
    assert recorded.code == 0, recorded
    workshop.write("train.py", _probed(text, IN_RANKS))
    expected = _answers(workshop.plain("train.py", *ports).out)
    assert len(set(expected)) == 20
    replayed = workshop.florc("replay", "train.py")
    assert _answers(replayed.out) == expected and "exact: " in replayed.said, replayed


def test_ranks_that_are_not_started_again_are_missed(workshop: Workshop) -> None:
    """A script takes another turn, for a file that somebody made since, and nothing that it prints says so."""
    text = SCRIPT.replace("        mp.spawn(main,", '        os.path.exists("done") or mp.spawn(main,')
    workshop.write("meeting.py", MEETING)
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py", _port()).code == 0
    workshop.write("done", "")
    workshop.write("train.py", _probed(text, IN_RANKS, IN_SCRIPT))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.code == 1 and "did not start the processes" in replayed.said, replayed


def test_a_script_that_does_not_wait_is_told_that_its_ranks_are_over(workshop: Workshop) -> None:
    text = SCRIPT.replace(
        "        mp.spawn(main, args=(2, sys.argv[1]), nprocs=2)\n",
        """        context = mp.spawn(main, args=(2, sys.argv[1]), nprocs=2, join=False)
        print(len(context.processes), flush=True)
        while not context.join():
            pass
""",
    )
    workshop.write("meeting.py", MEETING)
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py", _port()).code == 0
    workshop.write("train.py", _probed(text, IN_RANKS))
    expected = _answers(workshop.plain("train.py", _port()).out)
    replayed = workshop.florc("replay", "train.py")
    assert _answers(replayed.out) == expected and len(expected) == 10 and "exact: " in replayed.said, replayed


SHARING: dict[str, Any] = {
    "queue": ("mp.get_context('spawn').SimpleQueue()", "extra.put(rank)"),
    "lock": ("mp.get_context('spawn').Lock()", "extra.acquire(); extra.release()"),
    "tensor": ("torch.zeros(3).share_memory_()", "extra.add_(1)"),
}


@pytest.mark.parametrize("kind", SHARING)
def test_ranks_that_share_something_with_the_script_are_flagged(workshop: Workshop, kind: str) -> None:
    made, used = SHARING[kind]
    text = SCRIPT.replace("args=(2, sys.argv[1])", f"args=(2, sys.argv[1], {made})")
    text = text.replace("def main(rank, world, port):\n", f"def main(rank, world, port, extra):\n        {used}\n")
    workshop.write("meeting.py", MEETING)
    workshop.write("train.py", text)
    plain = workshop.plain("train.py", _port())
    recorded = workshop.florc("record", "train.py", _port())
    assert (sorted(recorded.out.splitlines()), recorded.code) == (sorted(plain.out.splitlines()), 0), recorded
    workshop.write("train.py", _probed(text, IN_RANKS))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "" and "exact: " not in replayed.said and "did not run in this process" in replayed.said, replayed


def test_a_rank_that_raises_ends_the_script_as_it_does_plainly(workshop: Workshop) -> None:
    head = "def main(rank, world, port):\n"
    text = SCRIPT.replace(head, f"{head}        assert rank == 0, 'no second rank'\n        return\n")
    workshop.write("train.py", text)
    plain, recorded = workshop.plain("train.py", "0"), workshop.florc("record", "train.py", "0")
    assert recorded.code == plain.code == 1 and "no second rank" in recorded.err
    assert "florc" not in recorded.err, recorded


def test_a_statement_in_another_module_that_only_ranks_run_is_answered(workshop: Workshop) -> None:
    workshop.write("engine.py", FIT)
    workshop.write(
        "train.py",
        "import torch.multiprocessing as mp\nfrom engine import fit\n\nif __name__ == '__main__':\n    mp.spawn(fit, (False,), nprocs=2)\n",
    )
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("engine.py", _probed(FIT, IN_FIT))
    expected = _answers(workshop.plain("train.py").out)
    replayed = workshop.florc("replay", "train.py")
    assert _answers(replayed.out) == expected and len(set(expected)) == 6 and "exact: " in replayed.said, replayed


def test_answers_of_ranks_that_failed_are_missed(workshop: Workshop) -> None:
    text = (
        "import sys\nimport torch.multiprocessing as mp\n"
        + textwrap.dedent(FIT)
        + """
if __name__ == "__main__":
    for fails in (True, False):
        try:
            mp.spawn(fit, (fails,), nprocs=1)
        except mp.ProcessRaisedException:
            print("again", flush=True)
"""
    )
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", _probed(text, IN_FIT))
    assert len(_answers(workshop.plain("train.py").out)) == 6
    replayed = workshop.florc("replay", "train.py")
    assert len(_answers(replayed.out)) == 3 and "exact: " not in replayed.said, replayed
    assert "the processes started there ran without florc" in replayed.said, replayed.said


def test_the_file_in_which_ranks_meet_stays_as_it_is(workshop: Workshop) -> None:
    text = textwrap.dedent(FIT).replace(
        "import torch\n", "import torch\nimport torch.distributed as dist\nimport torch.multiprocessing as mp\n"
    )
    meets = 'dist.init_process_group("gloo", init_method="file://" + fails, rank=rank, world_size=2)'
    text = text.replace("    weights = torch.full", f"    {meets}\n    weights = torch.full").replace(
        'raise ValueError("no luck")', "dist.barrier()"
    )
    text += """
if __name__ == "__main__":
    import os
    if os.path.exists("store"):
        os.remove("store")
    mp.spawn(fit, (os.path.abspath("store"),), nprocs=2)
"""
    workshop.write("train.py", text)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    left = (workshop.path / "store").read_bytes()
    workshop.write("train.py", _probed(text, IN_FIT))
    replayed = workshop.florc("replay", "train.py")
    assert len(_answers(replayed.out)) == 6 and (workshop.path / "store").read_bytes() == left, replayed


IN_FOLDER = """
    import os
    import sys
    import torch
    import torch.multiprocessing as mp
    from fit import fit

    def main(rank, world):
        fit(rank, False)
        os.makedirs(f"out/of{rank}", exist_ok=True)
        torch.save(torch.full((2,), float(rank)), f"out/of{rank}/w.pt")

    if __name__ == "__main__":
        os.makedirs("out", exist_ok=True)
        mp.spawn(main, args=(2,), nprocs=2)
        found = [torch.load(f"out/of{rank}/w.pt").sum().item() for rank in range(2)]
        print("found", sorted(os.listdir("out")), found)
"""


def test_what_ranks_wrote_into_a_folder_of_the_script_is_found(workshop: Workshop) -> None:
    workshop.write("fit.py", FIT)
    workshop.write("train.py", IN_FOLDER)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0 and "found ['of0', 'of1'] [0.0, 2.0]" in recorded.out
    workshop.write("train.py", IN_FOLDER + '        print("P", found)\n')
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "P [0.0, 2.0]\n" and "exact: " in replayed.said, replayed.said
    shutil.rmtree(workshop.path / "out")  # what is not there any more is as the ranks of the replay wrote it
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "P [0.0, 2.0]\n" and "exact: " in replayed.said, replayed.said


OVERWRITTEN = """
    import torch
    import torch.multiprocessing as mp
    from fit import fit

    def main(rank, world, number):
        fit(rank, False)
        if rank == 0:
            torch.save(torch.full((2,), float(number)), "w.pt")

    if __name__ == "__main__":
        found = []
        for number in range(3):
            mp.spawn(main, args=(1, number), nprocs=1)
            found.append(torch.load("w.pt").sum().item())
            print("found", found)
"""


def test_each_version_of_a_file_that_ranks_overwrite_is_found(workshop: Workshop) -> None:
    workshop.write("fit.py", FIT)
    workshop.write("train.py", OVERWRITTEN)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0 and "found [0.0, 2.0, 4.0]" in recorded.out
    workshop.write("train.py", OVERWRITTEN + '            print("P", found)\n')
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "P [0.0]\nP [0.0, 2.0]\nP [0.0, 2.0, 4.0]\n" and "exact: " in replayed.said, replayed.said


SILENT = """
    import torch

    def fit(rank, fails):
        torch.manual_seed(rank)
        net = torch.nn.Linear(4, 1)
        for epoch in range(3):
            for batch in range(20):
                loss = net(torch.randn(8, 4)).pow(2).mean()
                net.zero_grad()
                loss.backward()
                with torch.no_grad():
                    for p in net.parameters():
                        p -= 0.1 * p.grad
        return net
"""


def test_ranks_that_print_nothing_are_compared_all_the_same(workshop: Workshop) -> None:
    workshop.write("fit.py", SILENT)
    workshop.write("train.py", IN_FOLDER)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", IN_FOLDER + '        print("P", found)\n')
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "P [0.0, 2.0]\n" and "exact: " in replayed.said, replayed.said
    assert "once more, to be compared" in replayed.said, replayed.said


def test_a_damaged_record_of_a_rank_is_said(workshop: Workshop) -> None:
    workshop.write("meeting.py", MEETING)
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "--checkpoint", "every", "train.py", _port())
    (journal,) = workshop.path.glob(".florc/runs/*/spawned/*/runs/*/journal.0")
    data = bytearray(journal.read_bytes())
    data[len(data) // 2] ^= 1
    journal.write_bytes(data)
    checked = workshop.florc("check")
    assert checked.code == 1 and "journal.0 is damaged at" in checked.out, checked
    workshop.write("train.py", _probed(SCRIPT, IN_RANKS))
    replayed = workshop.florc("replay", "train.py")
    assert "journal.0 is damaged at" in replayed.said and "florc: exact" not in replayed.said, replayed.said
