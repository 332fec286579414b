"""What a script takes from outside is recorded and given back: times, dated names and random bytes reappear, and need no mask."""

from __future__ import annotations

import itertools
import random
import re

import pytest
from florc.runs import masks
from workshop import Workshop

TAKEN = """
    import logging, os, secrets, sys, time, uuid
    from datetime import date, datetime, timedelta, timezone
    from time import perf_counter as clock

    import numpy as np

    class Meter:
        started = time.monotonic_ns()

        def __init__(self):
            self.seconds = 0.0

        def rate(self, seconds):
            self.seconds += seconds
            return 1 / seconds

    name = f"run-{datetime.now():%Y%m%d-%H%M%S.%f}-{uuid.uuid4().hex[:8]}-{secrets.token_hex(2)}"
    print(name, date.today(), datetime.now(timezone(timedelta(hours=2))), datetime.utcnow() < datetime.now() + timedelta(days=1))
    print(f"{time.strftime('%X')} {time.localtime().tm_sec} {time.ctime()}", os.urandom(3), uuid.uuid1(), secrets.randbits(90))
    rng, drawn = np.random.default_rng(), np.random.default_rng(3)
    meter, total, begun = Meter(), 0.0, time.time()
    while time.time() - begun < 0.2:  # how often is up to the clock
        start = clock()
        for step in map(float, range(4)):
            time.sleep(0.01)
            total += step * rng.random() + os.urandom(1)[0]
        print(f"loss {total} rate {meter.rate(clock() - start):.3f} {meter.seconds} took {(lambda: time.time() - begun)():.6f}")
    print(f"{time.time() - begun=} {meter.started} {drawn.random()} {(time.perf_counter_ns() - meter.started) // 10**6} ms")
"""


def test_what_is_taken_from_outside_reappears(workshop: Workshop) -> None:
    file = workshop.write("train.py", TAKEN.replace("=} {meter", "} {meter"))
    plain = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert plain.code == 0, plain.said
    losses = re.findall(r"loss (\S+)", plain.out)
    file.write_text(re.sub(r'( +)print\(f"loss', r"\1print('PROBE', total, begun > 1000)\n\g<0>", file.read_text()))
    for extra in ((), ("--step-into", "all"), ("--last",)):
        replayed = workshop.florc("replay", *extra, "train.py")
        expected = [f"PROBE {loss} True" for loss in losses]
        assert replayed.out.splitlines() == (expected if not extra or extra[0] != "--last" else expected[-1:]), replayed.said
        assert replayed.code == 0 and "exact" in replayed.said and "but for a time" not in replayed.said, replayed.said


DRAWN = """
    import os, random, secrets, time
    import numpy as np

    rng, own = random.SystemRandom(), random.Random(3)
    seed = random.SystemRandom().randint(0, 2 ** 32 - 1)
    print("seed", seed, secrets.choice(range(10 ** 9)), time.clock_gettime(time.CLOCK_REALTIME), os.getrandom(4))
    print(np.random.SeedSequence().entropy, np.random.SeedSequence(4).entropy, time.clock_gettime_ns(time.CLOCK_MONOTONIC))
    total, order = 0.0, list(range(9))
    for epoch in range(3):
        for step in range(4):
            rng.shuffle(order)
            total += rng.random() + rng.gauss(0, 1) + own.random() + rng.choice(order)
            try:
                rng.choice([])
            except IndexError as error:
                total += len(str(error))
        print(epoch, total, order, rng.sample(order, 2), random._urandom is os.urandom)
"""


def test_what_generators_draw_from_the_kernel_reappears(workshop: Workshop) -> None:
    file = workshop.write("train.py", DRAWN)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0, recorded.err
    file.write_text(file.read_text().replace("    print(epoch", "    print('PROBE', epoch, total, order)\n    print(epoch"))
    expected = [re.sub(r"^(.*?\]).*", r"PROBE \1", line) for line in recorded.out.splitlines()[2:]]
    for added in ("", "        print('IN', total)\n"):
        file.write_text(file.read_text().replace("        total += rng", added + "        total += rng"))
        replayed = workshop.florc("replay", "train.py")
        assert [line for line in replayed.out.splitlines() if line.startswith("PROBE")] == expected, replayed.said
        assert replayed.code == 0 and "exact: " in replayed.said, replayed.said


SEEDED = """
    import os, random, time
    import numpy as np
    import torch

    seed = None
    random.seed()
    np.random.seed(seed)
    print(torch.seed() == torch.initial_seed(), random.random(), np.random.rand(), torch.rand(1))
    rng, own, old = np.random.default_rng(seed), random.Random(seed), np.random.RandomState()
    bits = np.random.Generator(np.random.PCG64())
    total = 0.0
    for epoch in range(3):
        for step in range(4):
            total += rng.random() + own.random() + old.rand() + bits.random()
        with open("saved", "w") as file:
            file.write(str(total))
        print(epoch, total, os.path.getmtime("saved"), random.random())
    random.seed(a=seed), np.random.seed(4), torch.manual_seed(3)
    print(random.random(), np.random.rand(), torch.rand(1), os.path.getctime("saved"))
"""


def test_generators_that_no_one_seeded_begin_as_they_did(workshop: Workshop) -> None:
    file = workshop.write("train.py", SEEDED)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0, recorded.err
    file.write_text(file.read_text().replace("    print(epoch", "    print('PROBE', epoch, total)\n    print(epoch"))
    expected = ["PROBE " + " ".join(line.split()[:2]) for line in recorded.out.splitlines()[1:4]]
    for extra in ((), ("--step-into", "all")):
        replayed = workshop.florc("replay", *extra, "train.py")
        assert replayed.out.splitlines() == expected, replayed.said
        assert replayed.code == 0 and "exact: " in replayed.said, replayed.said


def test_nothing_stands_for_the_kernel_once_no_more_is_kept(workshop: Workshop) -> None:
    workshop.write(
        "train.py",
        """
        import os, random
        for step in range(10):
            os.urandom(1 << 20)  # more than is kept in all
        print(random.SystemRandom().random() < 1, random._urandom is os.urandom)
    """,
    )
    recorded = workshop.florc("record", "train.py")
    assert recorded.out == "True True\n" and recorded.code == 0, recorded.err


def test_a_generator_of_the_kernel_raises_as_in_a_plain_run(workshop: Workshop) -> None:
    workshop.write(
        "train.py",
        """
        import random
        class Mine(random.SystemRandom):
            def choice(self, items):
                return items[0]
        print(Mine().choice([3]), random.SystemRandom().random.__name__)
        random.SystemRandom().choice([])
    """,
    )
    plain, recorded = workshop.plain("train.py"), workshop.florc("record", "train.py")
    assert (recorded.out, recorded.err, recorded.code) == (plain.out, plain.err, plain.code)


def test_an_added_statement_sees_the_true_clock(workshop: Workshop) -> None:
    file = workshop.write(
        "train.py",
        """
        import time

        def now():
            return time.time()

        for epoch in range(3):
            for step in map(float, range(3)):
                time.sleep(0.01)
            print(epoch, now())
    """,
    )
    assert workshop.florc("record", "train.py").code == 0
    file.write_text(file.read_text().replace("    print(epoch", "    print('PROBE', now(), time.time())\n    print(epoch"))
    recorded = [float(line.split()[1]) for line in workshop.florc("record", "train.py").out.splitlines() if line[0] != "P"]
    replayed = workshop.florc("replay", "latest~1", "train.py")
    seen = [[float(word) for word in line.split()[1:]] for line in replayed.out.splitlines()]
    assert len(seen) == 3 and all(value > recorded[-1] for pair in seen for value in pair)
    assert replayed.code == 0 and "exact: " not in replayed.said, replayed.said
    assert "an added statement called time.time, which gives the present value, not the recorded one" in replayed.said, (
        replayed.said
    )


@pytest.mark.parametrize("asked", ["time.time()", "time.perf_counter() - begun", "(lambda: time.time())()"])
def test_a_statement_that_asks_a_clock_itself_is_not_exact(workshop: Workshop, asked: str) -> None:
    text = """
        import time
        for epoch in range(3):
            begun = time.perf_counter()
            for step in map(float, range(3)):
                time.sleep(0.01)
            print(epoch)
            #PROBE
    """
    workshop.write("train.py", text)
    assert workshop.florc("record", "train.py").code == 0
    workshop.write("train.py", text.replace("#PROBE", f'print("PROBE", {asked})'))
    done = workshop.florc("replay", "train.py")
    assert "exact: " not in done.said and "which gives the present value, not the recorded one" in done.said, done.said


def test_stand_ins_for_a_clock_are_called(workshop: Workshop) -> None:
    text = """
        import datetime, random, time
        from unittest import mock
        class Day(datetime.datetime):
            pass
        for epoch in range(3):
            with mock.patch("time.time", side_effect=[epoch, 7]):
                print(time.time(), time.time(), type(Day.now()).__name__)
        random.seed(1)
        time.time, time.monotonic = (lambda: 4.0), random.random
        print(time.time(), time.monotonic(), time.monotonic(), random.random())
    """
    workshop.write("train.py", text)
    plain, recorded = workshop.plain("train.py"), workshop.florc("record", "train.py")
    assert (recorded.out, recorded.err) == (plain.out, plain.err) and "error" not in recorded.said
    replayed = workshop.florc("replay", "train.py")
    assert replayed.code == 0 and "exact: 4 recorded lines" in replayed.said, replayed.said


UNSEEN = {
    "a line with a duration": 'print("epoch", epoch, "loss", w, "took", time.time() - begun)',
    "an object that measures": "print(net.rate(time.time() - begun), net.weight)",
    "a line of a logger": 'logging.info("epoch %d loss %.9f", epoch, w)',
}


@pytest.mark.parametrize("line", list(UNSEEN.values()), ids=list(UNSEEN))
def test_no_clock_hides_a_loss_that_differs(workshop: Workshop, line: str) -> None:
    """florc does not give back the number of the process: the losses of the replay are others."""
    workshop.write(
        "train.py",
        f"""
        import argparse, logging, os, sys, time
        logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s,%(msecs)03d %(message)s")
        parser = argparse.ArgumentParser()
        parser.add_argument("--save", default="run" + str(time.time()))
        args = parser.parse_args()
        class Net:
            weight = 1.0
            def rate(self, seconds):
                self.weight *= 1 + (seconds > 1e9)
                return 1 / seconds
        net, w = Net(), 1.0
        for epoch in range(4):
            begun = time.time()
            w = w * (1 - 0.1 * (1 + os.getpid() % 1009 / 1000))
            net.weight = w
            time.sleep(0.01)
            {line}
    """,
    )
    assert workshop.florc("record", "train.py").code == 0
    replayed = workshop.florc("replay", "--step-into", "all", "train.py")
    assert replayed.code == 1 and "ANOMALOUS" in replayed.said, replayed.said


def test_times_in_lines_of_libraries_are_those_of_the_recorded_run(workshop: Workshop) -> None:
    workshop.write(
        "train.py",
        """
        import logging, sys, time
        logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
        total = 0.5
        for epoch in range(3):
            for step in map(float, range(3)):
                time.sleep(0.01)
                total += step
            logging.info("epoch %d total %.3f", epoch, total)
            print(epoch)
    """,
    )
    assert workshop.florc("record", "train.py").code == 0
    replayed = workshop.florc("replay", "train.py")
    assert replayed.code == 0 and "exact: 6 recorded lines" in replayed.said


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("2026-11-22 16:42:14,123 INFO loss 0.25", "<time> INFO loss 0.25"),
        ("[11/22 16:42:14] loss 12", "[<time>] loss 12"),
        ("Epoch 3: 100%|██████| 8/8 [00:07<00:00, 8.31it/s, loss=0.5]", "Epoch 3: 100%|| 8/8 [<time><<time>, <time>, loss=0.5]"),
        ("8/8 [====] - 1s 3ms/step - loss: 0.7025", "8/8 [====] - <time> <time> - loss: 0.7025"),
        ("took 12.3 s, 5.0 minutes", "took <time>, <time>"),
        ("lr 0.1 step 12 acc 97.5% v1.2", "lr 0.1 step 12 acc 97.5% v1.2"),
    ],
)
def test_which_numbers_are_times(text: str, left: str) -> None:
    assert masks.without_times(text) == left


LINES = [
    "<2026-11-22 16:42:14,123> - INFO - Epoch [{3}/{90}] loss: {0.7025} acc@1 {71.25}%",
    "[<11/22/2026 04:42:14 PM>] lr {0.001} loss {2.303e-05}",
    "Epoch {12}: {100}%|<██████>| {8}/{8} [<00:07><<00:12>, <8.31it/s>, loss={0.5}, v_num={3}]",
    "{8}/{8} [====] - <1s> <3ms/step> - loss: {0.7025} - val_accuracy: {0.9312}",
    "{12}/{12} - <0s> - loss: {0.25} - <23ms/epoch> - <2ms/step>",
    "step {400} | loss {3.14} | norm {0.51} | <812.4 ms> | <64,120 tok/s>",
    "{'loss': {0.69}, 'learning_rate': {5e-05}, 'epoch': {0.5}}",
    "Time: <12.51 s>, train loss {0.25}, <3.2 minutes> left",
    "iter {10} loss {-1.25} eta: <1 day, 2:03:04> time: <0.312 s> data: <0.004 s> lr: {0.02}",
    "{'eval_loss': '{0.6935}', <'eval_runtime': '0.0236'>, <'eval_steps_per_second': '339.5'>, 'epoch': '{1}'}",
    "<Sun Nov 22> <16:42:14> model {1}.{2} has {25557032} parameters",
]


def _variants(line: str, seed: random.Random):
    """The line as it is, and with each number, or each time, replaced by another one of its form."""
    marks = re.compile(r"\{([^{}]*?\d[^{}]*?)\}|<([^<>]*)>")

    def other(text: str) -> str:
        if "\u2588" in text:
            return text + "\u2588"
        return re.sub(r"\d", lambda digit: str((int(digit.group()) + seed.randint(1, 8)) % 10), text)

    def said(changed: int) -> str:
        numbers = itertools.count()
        return marks.sub(lambda mark: other(mark[1] or mark[2]) if next(numbers) == changed else mark[1] or mark[2], line)

    for number, mark in enumerate(marks.finditer(line)):
        yield said(-1), said(number), mark[1] is not None


@pytest.mark.parametrize("line", LINES)
def test_a_number_of_a_library_that_differs_is_seen_and_a_time_is_not(line: str) -> None:
    seed = random.Random(line)
    for _ in range(50):
        for was, now, is_number in _variants(line, seed):
            assert (masks.without_times(was) != masks.without_times(now)) == is_number, (was, now)


@pytest.mark.parametrize(
    ("was", "now", "is_same"),
    [
        ("no-name-fbd3c5cd-d0ff-4136-aed8-d0c8006fc1dd", "no-name-c93b64b1-3dfb-4a30-b822-267e58e9879b", True),
        ("no-name-fbd3c5cd-d0ff-1136-aed8-d0c8006fc1dd", "no-name-c93b64b1-3dfb-1a30-b822-267e58e9879b", False),  # version 1
        ("run 3 fbd3c5cd-d0ff-4136-aed8-d0c8006fc1dd", "run 4 fbd3c5cd-d0ff-4136-aed8-d0c8006fc1dd", False),
    ],
)
def test_random_names(was: str, now: str, is_same: bool) -> None:
    assert (masks.without_random_names(was) == masks.without_random_names(now)) is is_same


@pytest.mark.parametrize(
    ("was", "now", "is_same"),
    [
        ("/tmp/SB3-2026-11-25-11-22-57-083371", "/tmp/SB3-2026-11-26-01-02-03-744973", True),
        ("runs/Nov25_14-42-10_host", "runs/Nov26_01-02-03_host", True),
        ("runs/Nov25_14-42-10_host", "runs/Nov26_01-02-03_other", False),
        ("runs/Nov25_14-42", "runs/Nov25_14-43", False),
        ("/tmp/a-2026-11-25", "/tmp/b-2026-11-25", False),
        ("loss 0.25", "loss 0.26", False),
        ("12345-67-89", "12345-67-90", False),
        ("best-2026-11-25-0.93", "best-2026-11-25-0.94", False),
        ("epoch-2026-11-25-10-93", "epoch-2026-11-25-10-94", False),
    ],
)
def test_names_with_a_date(was: str, now: str, is_same: bool) -> None:
    assert (masks.without_dates(was) == masks.without_dates(now)) is is_same


def test_how_long_a_device_took_is_given_back(workshop: Workshop) -> None:
    """The method of an event is a stand-in that asks the clock where florc does not look: there may be no device."""
    pytest.importorskip("torch")
    file = workshop.write(
        "train.py",
        """
        import time
        import torch

        exec("def elapsed_time(self, end):\\n    import time\\n    return time.perf_counter() * 1e3", vars(torch.cuda.streams))
        torch.cuda.Event.elapsed_time = torch.cuda.streams.elapsed_time

        class Watch:
            def elapsed_time(self, end):
                return 4.5

        starts, ends = ([torch.cuda.Event(enable_timing=True) for _ in range(3)] for _ in range(2))
        total = 0.0
        for epoch in range(3):
            for step in map(float, range(3)):
                time.sleep(0.01)
                total += starts[epoch].elapsed_time(ends[epoch])
            took = starts[0].elapsed_time(ends[0])
            print(f"{epoch} {total} {took} {ends[epoch].elapsed_time(starts[0]):.3f}", Watch().elapsed_time(1))
    """,
    )
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0, recorded.err
    file.write_text(file.read_text().replace("    print(", "    print('PROBE', total, took)\n    print("))
    for extra in ((), ("--step-into", "all")):
        replayed = workshop.florc("replay", *extra, "train.py")
        assert replayed.out.splitlines() == ["PROBE " + " ".join(line.split()[1:3]) for line in recorded.out.splitlines()], (
            replayed.said
        )
        assert replayed.code == 0 and "exact: 3 recorded lines" in replayed.said and "but for" not in replayed.said, replayed.said
