"""What a small script's test says."""

from __future__ import annotations

from typing import Any, NamedTuple


class Case(NamedTuple):
    """One script, with how it is run and what is known of it."""

    text: str
    options: dict[str, Any]
    restores: bool | None
    """Whether the replay is to restore something, so that the test tests it."""
    flagged: bool
    """Whether the replay cannot know that its values are right, and must say so."""
    xfail: str | None
    unsure: bool = False
    """Whether the replay may say that it does not know, instead of being right."""
    exact: bool = False
    """Whether nothing may be said against its values."""


class Cases(dict[str, Case]):
    """Scripts by name."""

    def add(
        self,
        name: str,
        text: str,
        restores: bool | None = True,
        flagged: bool = False,
        xfail: str | None = None,
        unsure: bool = False,
        exact: bool = False,
        **options: Any,
    ) -> None:
        """Add a script."""
        assert name not in self, name
        self[name] = Case(text, options, None if flagged else restores, flagged, xfail, unsure, exact)
