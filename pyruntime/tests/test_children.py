"""What added statements print in processes that the script forks: workers of a DataLoader, pools, os.fork."""

from __future__ import annotations

import json
import re

import pytest
from workshop import Workshop

LOADER = """
    import torch
    from torch.utils.data import DataLoader, Dataset

    torch.manual_seed(0)

    class Numbers(Dataset):
        def __len__(self):
            return 8
        def __getitem__(self, index):
            x = torch.randn(3) + index
            return x

    def main():
        loader = DataLoader(Numbers(), batch_size=2, shuffle=True, num_workers=2, persistent_workers=PERSISTENT)
        total = 0.0
        for epoch in range(2):
            for x in loader:
                total += x.sum().item()
            print("epoch", epoch, total)

    if __name__ == "__main__":
        main()
"""
POOL = """
    import concurrent.futures, multiprocessing

    def square(x):
        y = x * x
        return y

    def main():
        fork = multiprocessing.get_context("fork")
        for epoch in range(2):
            with WORKERS as workers:
                found = list(workers.map(square, range(5)))
            print("epoch", epoch, sum(found))

    if __name__ == "__main__":
        main()
"""
FORKS = """
    import os

    for epoch in range(3):
        child = os.fork()
        if child == 0:
            own = os.fork()
            x = epoch * 10
            if own:
                os.waitpid(own, 0)
            os._exit(0)
        os.waitpid(child, 0)
        print("epoch", epoch, flush=True)
"""


def _asked(workshop: Workshop, text: str, before: str, statement: str) -> None:
    workshop.write("train.py", text)
    assert workshop.florc("record", "train.py").code == 0
    indent = re.search(rf"^( *){re.escape(before)}", text, re.MULTILINE)
    assert indent is not None
    workshop.write("train.py", text.replace(f"{indent[1]}{before}", f"{indent[1]}{statement}\n{indent[1]}{before}"))


def _lines(text: str) -> list[str]:
    return sorted(line for line in text.splitlines() if line.startswith("P "))


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_of_a_loader_answer_in_the_order_in_which_they_began(workshop: Workshop, persistent: bool) -> None:
    # one write each: what two processes print at once may be torn apart in a plain run
    statement = "import os; os.write(1, f'P {index} {x.sum().item()} {torch.initial_seed()}\\n'.encode())"
    _asked(workshop, LOADER.replace("PERSISTENT", str(persistent)), "return x", statement)
    truth = workshop.plain("train.py")
    done = workshop.florc("replay", "train.py")
    assert _lines(done.out) == _lines(truth.out) and len(_lines(done.out)) == 16
    assert "exact" in done.said and f"started: {2 if persistent else 4}" in done.said, done.said
    seeds = [line.split()[-1] for line in done.out.splitlines()]
    assert seeds == sorted(seeds, key=seeds.index), "the answers of a worker stand together"


@pytest.mark.parametrize(
    "workers", ["fork.Pool(2)", "concurrent.futures.ProcessPoolExecutor(2, mp_context=fork)"], ids=["Pool", "Executor"]
)
def test_pools_answer(workshop: Workshop, workers: str) -> None:
    _asked(workshop, POOL.replace("WORKERS", workers), "return y", "print('P', x, y)")
    done = workshop.florc("replay", "train.py")
    assert _lines(done.out) == sorted(f"P {x} {x * x}" for x in [*range(5)] * 2)
    assert "exact" in done.said, done.said


def test_children_of_children_answer_with_their_number(workshop: Workshop) -> None:
    _asked(workshop, FORKS, "if own:", "print('P', x, own == 0)")
    done = workshop.florc("replay", "--json", "train.py")
    *values, report = [json.loads(line) for line in done.out.splitlines()]
    found = [(value["child"], value["text"]) for value in values]
    assert found == [
        (f"{epoch + 1}{'.1' * is_inner}", f"P {epoch * 10} {is_inner}") for epoch in range(3) for is_inner in (False, True)
    ]
    assert report["statements"][0]["in_children"] == report["statements"][0]["carried"] == 6
    assert report["verdict"] == "exact"


def test_part_of_a_run_says_that_children_have_no_answer(workshop: Workshop) -> None:
    """A worker may serve iterations that were not asked for."""
    _asked(workshop, LOADER.replace("PERSISTENT", "True"), "return x", "print('P', index)")
    done = workshop.florc("replay", "--iterations", "1:", "train.py")
    assert "P" not in done.out and "exact" not in done.said
    assert "in processes that the script forked" in done.said, done.said


def test_a_statement_that_raises_in_a_child_ends_that_child_as_it_would(workshop: Workshop) -> None:
    _asked(workshop, FORKS, "if own:", r"os.write(1, b'P %d %f\n' % (x, 1 / x))")
    truth = workshop.plain("train.py")
    done = workshop.florc("replay", "train.py")
    assert _lines(done.out) == _lines(truth.out) == ["P 10 0.100000"] * 2 + ["P 20 0.050000"] * 2


@pytest.mark.parametrize("leaves", ["sys.exit(0)", "break", "raise SystemExit(3)"])
def test_a_child_that_comes_to_the_end_of_the_script_is_no_replay(workshop: Workshop, leaves: str) -> None:
    """It reports nothing, and starts nothing again."""
    text = FORKS.replace("os._exit(0)", leaves).replace(
        "import os", "import os, sys, atexit\n    atexit.register(os.write, 1, b'bye\\n')"
    )
    _asked(workshop, text, "if own:", r"os.write(1, b'P %d\n' % x)")
    truth = workshop.plain("train.py")
    done = workshop.florc("replay", "train.py")
    assert _lines(done.out) == _lines(truth.out), done
    assert done.said.count("florc: replayed") == 1 and "exact" in done.said, done.said


WRITES = {
    "a file": 'open("seen.txt", "a").write("x")',
    "a file of the script": 'open("script.txt", "a").write("x")',
    "a log": 'logging.info("v %s", v)',
}


@pytest.mark.parametrize("name", WRITES)
def test_what_a_statement_writes_in_a_child_is_kept_beside(name: str, workshop: Workshop) -> None:
    text = """
        import logging, time
        import multiprocessing as mp
        logging.basicConfig(filename="run.log", level=logging.INFO, format="%(message)s")
        open("script.txt", "w").close()
        def work(v):
            time.sleep(0.01)
            #ADDED
            return v * v
        for epoch in range(2):
            total = 0
            for i in range(3):
                time.sleep(0.01)
                total += i
            with mp.get_context("fork").Pool(1) as pool:
                print(epoch, total, pool.map(work, [1, 2]))
    """
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    left = sorted((path.name, path.read_bytes()) for path in workshop.path.glob("[rs]*.*"))
    workshop.write("train.py", text.replace("#ADDED", WRITES[name]))
    done = workshop.florc("replay", "train.py")
    assert done.code == 0 and "lost" not in done.said, done.said
    found = {path.name: path.read_bytes() for path in workshop.path.glob("[rs]*.*")}
    ((copy, text_of_it),) = ((name, text) for name, text in found.items() if name.endswith(".florc-replay"))
    assert left == sorted((name, text) for name, text in found.items() if name != copy)
    for path in workshop.path.glob("[rs]*.*"):
        path.unlink()
    workshop.plain("train.py")
    assert text_of_it == (workshop.path / copy.removesuffix(".florc-replay")).read_bytes()


def test_what_a_statement_writes_in_a_child_is_told_of_where_it_is_gone(workshop: Workshop) -> None:
    _asked(workshop, FORKS, "if own:", "(open('seen.txt', 'a').write('x'), __import__('os').remove('seen.txt'))")
    done = workshop.florc("replay", "train.py")
    assert "in a process that the script forked: that is lost" in done.said and "unverified" in done.said, done.said


def test_a_folder_that_is_tried_in_a_child_is_no_file_that_is_lost(workshop: Workshop) -> None:
    """`tempfile` writes to a file and removes it when it first looks for its folder: in whichever thread of a worker that is."""
    text = """
        import tempfile, time
        import multiprocessing as mp
        def work(v):
            tempfile.tempdir = None
            #ADDED
            return v * v
        for epoch in range(2):
            total = 0
            for i in range(3):
                time.sleep(0.01)
                total += i
            with mp.get_context("fork").Pool(1) as pool:
                print(epoch, total, pool.map(work, [1, 2]))
            tempfile.tempdir = None
            #ALSO
    """
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    added = text.replace("#ADDED", 'print("P", v, tempfile.gettempdir())').replace("#ALSO", 'print("P", tempfile.gettempdir())')
    workshop.write("train.py", added)
    truth = sorted(_lines(workshop.plain("train.py").out))
    done = workshop.florc("replay", "train.py")
    assert sorted(_lines(done.out)) == truth and len(truth) == 6 and "exact: " in done.said, done.said


def test_a_child_that_a_statement_forks_and_ends_has_answers(workshop: Workshop) -> None:
    text = """
        import os, time
        w = [0.0]
        for epoch in range(3):
            for i in range(5):
                time.sleep(0.005)
                w[0] += i
            #ADDED
            print("epoch", epoch, w)
    """
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    added = """pid = os.fork()
            if pid == 0:
                print("P child", w[0], flush=True)
                os._exit(0)
            os.waitpid(pid, 0)
            print("P parent", w[0])"""
    workshop.write("train.py", text.replace("#ADDED", added))
    truth = _lines(workshop.plain("train.py").out)
    done = workshop.florc("replay", "train.py")
    assert _lines(done.out) == truth and len(truth) == 6 and "exact" in done.said, done.said
    *values, _ = map(json.loads, workshop.florc("replay", "--json", "train.py").out.splitlines())
    assert sorted(value["text"] for value in values) == truth


PRINTS = """
    import os, sys, threading

    print("begun", end=" ")
    for epoch in range(2):
        child = os.fork()
        if child == 0:
            os.closerange(3, 100)
            own = os.fork()
            if own:
                os.waitpid(own, 0)
            print("loss", epoch + 0.5, "of", own == 0)
            print("oh", epoch + 1, file=sys.stderr)
            thread = threading.Thread(target=lambda: print("thread", epoch + 2))
            thread.start()
            thread.join()
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)
        print("epoch", epoch, flush=True)
"""


def test_what_children_printed_when_it_was_recorded_has_names(workshop: Workshop) -> None:
    workshop.write("train.py", PRINTS.replace('end=" "', 'end=" ", flush=True'))
    plain = workshop.plain("train.py")
    recorded = workshop.florc("record", "train.py")
    assert (sorted(recorded.out.splitlines()), recorded.code) == (sorted(plain.out.splitlines()), 0)
    rows = [json.loads(line) for line in workshop.florc("logs", "--format", "jsonl").out.splitlines()]
    found = {(row.get("child"), row["name"]): row["value"] for row in rows if row.get("child")}
    assert found == {
        (f"{epoch + 1}{'.1' * is_inner}", name): value
        for epoch in range(2)
        for is_inner in (False, True)
        for name, value in (("loss", epoch + 0.5), ("of", is_inner), ("oh", epoch + 1), ("thread", epoch + 2))
    }
    asked = workshop.florc("query", "select distinct child from lines order by child", "--format", "csv").out.split()
    assert asked == ["child", '""', "1", "1.1", "2", "2.1"] or asked[-4:] == ["1", "1.1", "2", "2.1"], asked
    assert workshop.florc("check").code == 0


def test_names_of_children_are_kept_of_a_run_that_is_killed(workshop: Workshop) -> None:
    script = PRINTS.replace('print("epoch", epoch, flush=True)', "")
    workshop.write("train.py", script + "\n    for _ in range(10): pass\n    os.kill(os.getpid(), 9)\n")
    assert workshop.florc("record", "train.py").code != 0
    rows = [json.loads(line) for line in workshop.florc("logs", "loss", "--format", "jsonl").out.splitlines()]
    assert {row.get("child") for row in rows} >= {"1", "1.1"}, rows


def test_runs_are_compared_without_what_children_printed(workshop: Workshop) -> None:
    """Which worker of a pool does what is another one in each run."""
    workshop.write("train.py", POOL.replace("WORKERS", "fork.Pool(2)").replace("return y", "print('y', y)\n        return y"))
    for _ in range(2):
        assert workshop.florc("record", "train.py").code == 0
    assert workshop.florc("logs", "y").out.count("recorded") == 10
    told = json.loads(workshop.florc("diff", "latest~1", "latest", "--json").out)
    assert told["values"] and not any(one["differ"] or one["only_in"] for one in told["values"]), told["values"]
    assert "y" not in {one["name"] for one in told["values"]}


CANNOT = {
    "no descriptor": "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))",
    "another one": "import sys; sys.stdout = os.fdopen(os.dup(1), 'w')",
}


@pytest.mark.parametrize("why", CANNOT)
def test_a_child_that_cannot_hand_on_its_answer_is_told_of(workshop: Workshop, why: str) -> None:
    """It prints as without florc, and another answer hides nothing."""
    text = FORKS.replace("own = os.fork()", f"own = 0; {CANNOT[why]}")
    _asked(workshop, text.replace("os._exit(0)", "import sys; sys.stdout.flush(); os._exit(0)"), "if own:", "print('P', x)")
    text = (workshop.path / "train.py").read_text()
    workshop.write("train.py", text.replace('print("epoch"', 'print("P own", epoch); print("epoch"'))
    done = workshop.florc("replay", "train.py")
    assert _lines(done.out) == [f"P own {epoch}" for epoch in range(3)], done
    assert "could not hand its answer on" in done.said and "unverified" in done.said, done.said


def test_a_child_that_outlives_the_script_is_told_of(workshop: Workshop) -> None:
    text = """
        import os, time
        for epoch in range(2):
            if os.fork() == 0:
                time.sleep(1.5)
                os._exit(0)
            print("epoch", epoch, flush=True)
    """
    workshop.write("train.py", text)
    assert workshop.florc("record", "train.py").code == 0
    text = text.replace("os._exit(0)", "print('P', epoch, flush=True); os._exit(0)").replace(
        'print("epoch"', 'print("P own", epoch); print("epoch"'
    )
    workshop.write("train.py", text)
    done = workshop.florc("replay", "train.py")
    assert _lines(done.out) == ["P own 0", "P own 1"]
    assert "outlives it" in done.said and "unverified" in done.said, done.said


def test_what_a_child_prints_itself_is_no_answer_of_the_script(workshop: Workshop) -> None:
    """It prints while a statement of the script's own process answers."""
    text = """
        import os, time
        child = os.fork()
        if child == 0:
            until = time.time() + 2
            while time.time() < until:
                os.write(1, b"noise" + bytes([10]))
            os._exit(0)
        for epoch in range(40):
            time.sleep(0.02)
            print("epoch", epoch, flush=True)
        os.waitpid(child, 0)
    """
    workshop.write("train.py", text)
    assert workshop.florc("record", "train.py").code == 0
    workshop.write("train.py", text.replace('print("epoch"', 'print("P", epoch); print("epoch"'))
    done = workshop.florc("replay", "train.py")
    assert done.out.splitlines() == [f"P {epoch}" for epoch in range(40)], done.said
    assert "exact" in done.said, done.said
