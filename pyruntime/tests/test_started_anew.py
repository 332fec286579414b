"""Answers of processes that the script starts anew, not forked: they are shown, and not called exact."""

from __future__ import annotations

import json

import pytest
from workshop import Done, Workshop

POOL = """
    import multiprocessing

    def square(x):
        y = x * x
        return y

    if __name__ == "__main__":
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            for epoch in range(2):
                print(epoch, sum(pool.map(square, range(4))))
"""
SERVER = POOL.replace('"spawn"', '"forkserver"')
PROCESS = """
    import multiprocessing
    import sys

    def work(epoch, queue):
        for x in range(3):
            queue.put(x * epoch)
        print("worked", epoch, file=sys.stderr)

    if __name__ == "__main__":
        context = multiprocessing.get_context("spawn")
        for epoch in range(2):
            queue = context.Queue()
            process = context.Process(target=work, args=(epoch, queue))
            process.start()
            print(epoch, [queue.get() for _ in range(3)])
            process.join()
"""
HELPED = """
    import multiprocessing
    import helper

    if __name__ == "__main__":
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(helper.cube, range(3)))
"""
HELPER = """
    def cube(x):
        return x ** 3
"""
LOKY = """
    from joblib import Parallel, delayed

    def square(x):
        y = x * x
        return y

    if __name__ == "__main__":
        for epoch in range(2):
            print(epoch, sum(Parallel(n_jobs=2)(delayed(square)(x) for x in range(4))))
"""
LOADER = """
    import torch

    class Numbers(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            value = torch.tensor(float(index))
            return value

    if __name__ == "__main__":
        torch.manual_seed(0)
        for epoch in range(2):
            loader = torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=1, multiprocessing_context="spawn")
            print(epoch, sum(batch.sum().item() for batch in loader))
"""
ANSWER = "print(f'P {x} {y}\\n', end='', flush=True)"  # at once: several processes write to one pipe
PROGRAMS = {
    "pool": (POOL, "return y", ANSWER, ""),
    "forkserver": (SERVER, "return y", ANSWER, ""),
    "process": (PROCESS, "queue.put(x * epoch)", "print('P', x, epoch)", ""),
    "a module": (HELPED, "return x ** 3", "print('P', x)", ""),
    "joblib": (LOKY, "return y", ANSWER, "joblib"),
    "loader": (LOADER, "return value", "print('P', index, value.item())", "torch"),
}


def _with(text: str, before: str, statement: str) -> str:
    line = next(line for line in text.splitlines() if line.strip() == before)
    blanks = line[: len(line) - len(line.lstrip())]
    return text.replace(line, f"{blanks}{statement}\n{line}")


def _lines(done: Done) -> list[str]:
    return sorted(line for line in done.out.splitlines() if line.startswith("P "))


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_those_of_a_plain_run(workshop: Workshop, name: str) -> None:
    text, before, statement, needs = PROGRAMS[name]
    if needs:
        pytest.importorskip(needs)
    file, there = ("helper.py", HELPER) if text is HELPED else ("train.py", text)
    workshop.write("helper.py", HELPER)
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write(file, _with(there, before, statement))
    truth = _lines(workshop.plain("train.py"))
    assert len(truth) >= 3
    replayed = workshop.florc("replay", "train.py")
    assert _lines(replayed) == truth == sorted(replayed.out.splitlines()), replayed
    assert "unverified" in replayed.said and "in processes that the script started" in replayed.said, replayed.said
    assert "exact: " not in replayed.said and replayed.err == ""


def test_they_have_names(workshop: Workshop) -> None:
    workshop.write("train.py", POOL)
    assert workshop.florc("record", "train.py").code == 0
    workshop.write("train.py", _with(POOL, "return y", "print('y', y)"))
    *values, told = map(json.loads, workshop.florc("replay", "--json", "train.py").out.splitlines())
    assert sorted(value["text"] for value in values) == sorted(f"y {x * x}" for x in range(4) for _ in range(2))
    assert told["verdict"] == "unverified"
    found = workshop.florc("logs", "y", "--format", "csv").out.splitlines()
    assert len(found) == 9 and all("unverified" in line for line in found[1:]), found


def test_what_the_script_itself_prints_there_is_none(workshop: Workshop) -> None:
    text = _with(POOL, "return y", "print('there', x, flush=True)")
    workshop.write("train.py", text)
    assert workshop.florc("record", "train.py").code == 0
    workshop.write("train.py", _with(text, "return y", "print('P', x)"))
    replayed = workshop.florc("replay", "train.py")
    assert sorted(replayed.out.splitlines()) == sorted(f"P {x}" for x in range(4) for _ in range(2)), replayed
