"""A replay that starts again ends: nothing makes it start twice for the same reason."""

from __future__ import annotations

import pytest
from workshop import Workshop

SCRIPT = """
    import gc, itertools
    total = [0.0]
    source = itertools.count()
    kept = enumerate(range(1000))
    for epoch in range(3):
        for step in range(20):
            total[0] += 0.1 * next(source)
        #LOOK
        #ASK
        print("epoch", epoch, total[0])
"""
LOOKS = {
    "isinstance": "found = sum(1 for o in gc.get_objects() if isinstance(o, list)) > 0",
    "type": "found = sum(1 for o in gc.get_objects() if type(o) is list) > 0",
    "name of the type": "found = {type(o).__name__ for o in gc.get_objects()} > {'list'}",
    "classes": "found = [o.__name__ for o in gc.get_objects() if isinstance(o, type)] != []",
    "subclasses": "found = sum(issubclass(o, dict) for o in gc.get_objects() if isinstance(o, type)) >= 0",
    "repr": "found = len([repr(o) for o in gc.get_objects() if isinstance(o, type)]) > 0",
    "equality": "found = any(o == 7 for o in gc.get_objects() if isinstance(o, type))",
    "hash": "found = len({o for o in gc.get_objects() if isinstance(o, type)}) > 0",
    "attributes": "found = any(hasattr(o, 'no_such') for o in gc.get_objects())",
    "referrers": "found = len(gc.get_referrers(total)) > 0",
}


@pytest.mark.parametrize("where", ["LOOK", "ASK"])
@pytest.mark.parametrize("look", LOOKS)
def test_a_loop_over_all_objects(workshop: Workshop, look: str, where: str) -> None:
    """In the script, or in the question."""
    text = SCRIPT.replace("#LOOK", LOOKS[look]) if where == "LOOK" else SCRIPT
    added = (
        'print("P", epoch, round(total[0], 6))'
        if where == "LOOK"
        else f'{LOOKS[look]}; print("P", epoch, round(total[0], 6), found)'
    )
    _, replayed, truth = workshop.asked(text, text.replace("#ASK", added))
    assert replayed.out == truth or "florc: exact" not in replayed.said, replayed.said


def test_the_same_reason_ends_it(workshop: Workshop) -> None:
    """A session that asks for what was granted already: as a fault of florc's would."""
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    fault = "import florc.session; florc.session.current.leave.cannot_restore({'L2': 'a fault'})"
    workshop.write("train.py", SCRIPT.replace("#ASK", fault))
    replayed = workshop.florc("replay", "--allow-drift", "train.py")
    assert replayed.code == 1 and "it started again, ran L2, and met the same: a fault" in replayed.said, replayed.said


def test_a_name_that_nothing_binds_is_told_before_anything_runs(workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "train.py")
    workshop.write("train.py", SCRIPT.replace("#ASK", 'print("P", totl[0], [w for w in total], epoch)'))
    said = workshop.florc("replay", "train.py").said.splitlines()
    assert "train.py:9: totl is bound nowhere in this file [F109]" in said[0], said
    workshop.write("train.py", SCRIPT.replace("#ASK", "exec('totl = total'); print('P', totl)"))
    assert "F109" not in workshop.florc("replay", "train.py").said
