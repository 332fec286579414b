"""Pages of docs/ that are about kinds of programs: their examples, done as a user does them, and the rows of their tables."""

from __future__ import annotations

import re

from pages import Page, rows, text_of
from test_ranks import ranks
from workshop import Workshop


def test_distributed(workshop: Workshop) -> None:
    text = text_of("distributed.md")
    page = Page(workshop, text).do()
    assert page.compared == 3
    truth = [rank.out.splitlines() for rank in ranks(workshop, 2, "train.py")]
    told = page.printed("florc record")
    assert page.printed("torchrun") == told == [line for line in truth[0] if line.startswith("epoch")]
    assert page.printed("florc replay train.py") == [line for rank in truth for line in rank if line not in told]
    (refused,) = [second for first, second in rows(text) if first == "refused with a sentence"]
    for command in re.findall("`(.*?)`", refused):
        done = page.run(command)
        assert done.code == 2 and "F106" in done.said, (command, done)
