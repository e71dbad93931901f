from types import SimpleNamespace
from typing import Any

from deskhand.desktop.service.late_modules import load_dialects

PREFIX = "deskhand.desktop.service.dialects."


class Loader:
    """Loads a fake for each module, and notes their names."""

    def __init__(self) -> None:
        self.loaded: list[str] = []

    def __call__(self, name: str) -> Any:
        self.loaded.append(name)
        return SimpleNamespace(loaded=lambda: name)


def test_only_dialects_that_are_on_are_loaded() -> None:
    loader = Loader()
    assert load_dialects((), loader) == ()
    assert not loader.loaded
    load_dialects(("cdp", "osworld"), loader)
    assert loader.loaded == [f"{PREFIX}cdp", f"{PREFIX}osworld"]


def test_an_option_of_a_dialect_is_no_dialect_of_its_own() -> None:
    loader = Loader()
    load_dialects(("osworld", "osworld:lan"), loader)
    assert loader.loaded == [f"{PREFIX}osworld"]
