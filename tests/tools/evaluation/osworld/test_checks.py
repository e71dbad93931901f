"""The checks themselves; `test_evaluator` runs them as the process of a checker does."""

from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.evaluation.osworld.checks import check_conditions
from tests.tools.evaluation.osworld.given import Machine


def reason(machine: Machine, **condition: Any) -> str:
    """Return why a condition does not hold, an empty text if it does."""
    try:
        check_conditions(machine, [condition], True)
    except AssertionError as error:
        return str(error)
    return ""


def test_a_text_comes_from_a_command_or_a_file() -> None:
    machine = Machine({"a": b"one\n"}, {"cat a": "two\n"})
    equal = {"check": "text", "equals": ["one"]}
    assert reason(machine, **equal, source={"file": "a"}) == ""
    assert reason(machine, **equal, source={"command": ["cat", "a"]}) == "the text is 'two\\n'"
    assert reason(machine, **equal, source={"file": "b"}) == "there is no file b"


def test_a_text_includes_and_excludes() -> None:
    machine = Machine({"a": b"one two"})
    text = {"check": "text", "source": {"file": "a"}}
    assert reason(machine, **text, include=["one"], exclude=["three"]) == ""
    assert "'three' is not in the text" in reason(machine, **text, include=["three"], exclude=[])
    assert "'two' is in the text" in reason(machine, **text, include=["one"], exclude=["two"])


def test_files_have_equal_bytes_or_texts(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_bytes(b"a b\n")
    machine = Machine({"a": b"a b\n", "b": b"A \r\n b"})
    plain = {"check": "file", "as_text": False}
    assert reason(machine, **plain, path="a", kept=str(kept)) == ""
    assert reason(machine, **plain, path="a", other="b") == "the file a has other content"
    text = {"check": "file", "as_text": True, "path": "b", "other": "a"}
    assert reason(machine, **text, ignore_blanks=True, ignore_case=True) == ""
    assert reason(machine, **text, ignore_blanks=False, ignore_case=True) != ""


def test_addresses_are_compared_with_all_that_the_browser_shows() -> None:
    machine = Machine(shown=("http://LOCALHOST/a/", "about:blank"))
    one = {"check": "url", "all": False}
    assert reason(machine, **one, urls=["http://localhost/a"]) == ""
    assert reason(machine, **one, urls=["http://localhost/b"]).startswith("the browser shows")
    whole = {"check": "url", "all": True}
    assert reason(machine, **whole, urls=["about:blank", "http://localhost/a"]) == ""
    assert reason(machine, check="url", patterns=["^about"]) == ""
    assert reason(Machine(), check="url", patterns=["a"]) == "the browser shows nothing"


def test_processes_run_or_not() -> None:
    machine = Machine(running=("python3 server.py",))
    process = {"check": "process"}
    assert reason(machine, **process, include=["server"], exclude=["nginx"]) == ""
    found = reason(machine, **process, include=["nginx"], exclude=[])
    assert found == "no process 'nginx' is running"
    found = reason(machine, **process, include=[], exclude=["nginx", "server"])
    assert found == "the process 'server' is running"


def test_one_condition_of_several_suffices_if_not_every_is_asked() -> None:
    conditions = [{"check": "process", "include": [name], "exclude": []} for name in ("a", "b")]
    with pytest.raises(AssertionError, match=r"^no process 'b' is running$"):
        check_conditions(Machine(running=("a",)), conditions, True)
    check_conditions(Machine(running=("b",)), conditions, False)
    with pytest.raises(AssertionError, match=r"'a' is running; no process 'b'"):
        check_conditions(Machine(), conditions, False)
