"""The reference of the Python client, and the examples in docstrings."""

import doctest
import importlib
from pathlib import Path

import pytest

from scripts.make_python_api import PAGE, page

ROOT = Path(__file__).parent.parent
PACKAGES = ("desktop", "recording", "tools", "vncbridge")
WITH_EXAMPLES = sorted(
    str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if ">>> " in path.read_text()
)


def test_the_page_is_that_of_the_docstrings_and_nothing_lacks_one() -> None:
    text, warnings = page()
    assert warnings == []
    assert PAGE.read_text() == text.rstrip() + "\n", "run: python -m scripts.make_python_api"


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_in_docstrings_are_true(name: str) -> None:
    tried = doctest.testmod(importlib.import_module(f"deskhand.{name}"))
    assert tried.attempted > 0
    assert tried.failed == 0
