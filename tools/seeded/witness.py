"""The witness: what is left out of a digest, or not compared."""

from __future__ import annotations

from .mutation import FLORC, add

ANSWERS = "tests/test_witness.py::test_what_no_list_knows_is_answered_as_in_a_plain_run"
DIGESTS = "tests/test_witness_digests.py::test_each_change_shows"
add(
    "witness: a restored block is not compared",
    FLORC + "replay/session/restore.py",
    "        witnessed = self._witnessed() if checkpoint.witness else None\n",
    "        witnessed = None\n",
    ANSWERS,
)
add(
    "witness: objects of libraries hold nothing",
    FLORC + "survey/classes.py",
    '        return "reduce"\n    return "object"\n',
    '        return "reduce"\n    return "object" if module in SCRIPTS else "leaf"\n',
    DIGESTS,
)
add(
    "witness: the order of an ordered dict does not count",
    FLORC + "survey/classes.py",
    "    return list(OrderedDict.items(known))\n",
    "    return sorted(OrderedDict.items(known))\n",
    DIGESTS,
)
add(
    "witness: names that differ in each process are forgotten",
    FLORC + "replay/session/witnessed.py",
    "        self._misfits.remember({block: self.why(sorted(at_fault))} if at_fault else {}, different)\n",
    "        self._misfits.remember({block: self.why(sorted(doubted))}, ())\n",
    "tests/test_misfits.py::test_what_differs_in_each_process_is_no_fault_of_a_restore",
)
