"""What loggers write to files only is compared, line by line, as what is printed is."""

from __future__ import annotations

from workshop import Workshop

SCRIPT = """
    import logging, os, time

    def handler(path):
        made = logging.FileHandler(path)
        made.setFormatter(logging.Formatter("%(asctime)s %(process)d %(name)s %(message)s"))
        return made

    log, other = logging.getLogger("train"), logging.getLogger("other")
    log.setLevel(logging.INFO)
    other.setLevel(logging.INFO)
    log.addHandler(handler("train.log"))
    other.addHandler(handler("other.log"))
    total = [0.0]
    for epoch in range(6):
        for step in map(float, range(3)):
            time.sleep(0)
            total[0] += step
        log.info("epoch %d total %s", epoch, total[0])
        if epoch % 2:
            other.info("odd %d%s", epoch, WHAT)
"""
QUESTION = "        print('P', epoch, total[0])\n"
SAME = SCRIPT.replace("WHAT", "''")


def test_what_loggers_write_to_files_is_compared(workshop: Workshop) -> None:
    _, done, truth = workshop.asked(SAME, SAME + QUESTION)
    assert (done.out, done.code) == (truth, 0), done.said
    assert "exact: 9 recorded lines" in done.said and "once more" not in done.said, done.said
    some = workshop.florc("replay", "--iterations", "2:4", "train.py")
    assert some.out == "P 2 9.0\nP 3 12.0\n" and "exact: 3 recorded lines" in some.said, some.said


def test_a_line_that_differs_is_found(workshop: Workshop) -> None:
    script = SCRIPT.replace("WHAT", "[list, tuple]['florc.record.session' in __import__('sys').modules]")
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", script + QUESTION)
    done = workshop.florc("replay", "train.py")
    assert done.code == 1 and "ANOMALOUS" in done.said, done.said
    assert "<class 'list'>\" instead of " in done.said, done.said


def test_what_added_statements_log_is_an_answer_and_no_difference(workshop: Workshop) -> None:
    added = (
        "        log.info('P %d', epoch)\n        late = handler('late.log'); other.addHandler(late); other.removeHandler(late)\n"
    )
    workshop.write("train.py", SAME)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", SAME + added)
    done = workshop.florc("replay", "train.py")
    assert "exact: 9 recorded lines" in done.said, done.said


def test_a_run_that_was_cut_off_compares_what_it_printed(workshop: Workshop) -> None:
    script = SAME.replace("total[0] += step", "total[0] += step\n            if epoch == 4: os._exit(3)")
    workshop.write("train.py", script)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    workshop.write("train.py", script + QUESTION)
    done = workshop.florc("replay", "train.py")
    assert done.out.startswith("P 0 3.0\n") and "ANOMALOUS" not in done.said, done.said
