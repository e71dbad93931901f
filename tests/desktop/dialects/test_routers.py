"""Routers of dialects are thin: translation is in pure modules, work in our own routes."""

from pathlib import Path

import pytest

from deskhand.desktop import dialects

LONGEST = 150


@pytest.mark.parametrize("name", ["cua", "osworld"])
def test_a_router_is_short(name: str) -> None:
    # That of CDP may be longer, as it filters and multiplexes.
    text = (Path(next(iter(dialects.__path__))) / name / "api.py").read_text()
    assert len(text.splitlines()) <= LONGEST
