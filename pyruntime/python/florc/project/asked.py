"""Texts that take the place of files in one replay (`florc ask`): with the statements that are asked for. No file changes."""

from __future__ import annotations

import json
import os

_HANDED_ON = "_FLORC_ASKED"
"""The environment variable that names a file with the texts, for the ranks of a replay."""

texts: dict[str, str] = {}
"""By absolute path."""


def text_of(file: str, present: str) -> str:
    """What is run for a file that holds `present`."""
    return texts.get(file, present)


def hand_on(folder: str) -> dict[str, str]:
    """What the environment of a rank needs, so that it runs the same texts. They are kept in the folder: the replay's."""
    if not texts:
        return {}
    path = os.path.join(folder, "asked.json")
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
        json.dump(texts, file)
    return {_HANDED_ON: path}


def take() -> bool:
    """Run the texts that were handed on; whether there are any. Processes that the script starts are handed none."""
    path = os.environ.pop(_HANDED_ON, None)
    if path is None:
        return False
    with open(path, encoding="utf-8", errors="surrogatepass") as file:
        texts.update(json.load(file))
    return True
