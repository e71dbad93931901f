"""The checks of imported OSWorld tasks; only the standard library is imported.

The process of a checker runs the source of this module with the conditions of a task.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Condition = dict[str, Any]


def check_conditions(machine: Any, conditions: Sequence[Condition], every: bool) -> None:
    """Check all conditions, or with ``every`` false that one of them holds.

    Raises:
        AssertionError: With the reasons, if they do not hold.
    """
    problems = []
    for condition in conditions:
        problem = _problem(machine, condition)
        if problem and every:
            raise AssertionError(problem)
        if not problem and not every:
            return
        problems.append(problem)
    if not every:
        raise AssertionError("; ".join(problems))


def _problem(machine: Any, condition: Condition) -> str:
    try:
        return CHECKS[condition["check"]](machine, condition)
    except AssertionError as error:
        # A missing file; another condition may hold all the same.
        return str(error)


def _text(machine: Any, condition: Condition) -> str:
    text = _source(machine, condition["source"])
    if "equals" in condition:
        wanted = [one.strip("\n") for one in condition["equals"]]
        return "" if text.strip("\n") in wanted else f"the text is {text[:200]!r}"
    missing = [one for one in condition["include"] if one not in text]
    present = [one for one in condition["exclude"] if one in text]
    if missing:
        return f"{missing[0]!r} is not in the text {text[:200]!r}"
    return f"{present[0]!r} is in the text {text[:200]!r}" if present else ""


def _file(machine: Any, condition: Condition) -> str:
    found = machine.read_bytes(condition["path"])
    if "kept" in condition:
        wanted = Path(condition["kept"]).read_bytes()
    else:
        wanted = machine.read_bytes(condition["other"])
    if condition["as_text"]:
        same = _folded(found, condition) == _folded(wanted, condition)
    else:
        same = found == wanted
    return "" if same else f"the file {condition['path']} has other content"


def _folded(content: bytes, condition: Condition) -> str:
    text = content.decode("utf-8", "replace").replace("\r\n", "\n")
    if condition["ignore_blanks"]:
        text = re.sub(r"\s+", " ", text).strip()
    return text.lower() if condition["ignore_case"] else text


def _url(machine: Any, condition: Condition) -> str:
    shown = machine.urls()
    if "patterns" in condition:
        patterns = condition["patterns"]
        found = any(all(re.search(one, url) for one in patterns) for url in shown)
    elif condition["all"]:
        found = {_same(url) for url in shown} == {_same(url) for url in condition["urls"]}
    else:
        found = any(_same(url) == _same(condition["urls"][0]) for url in shown)
    return "" if found else f"the browser shows {', '.join(shown) or 'nothing'}"


def _same(url: str) -> tuple[str, ...]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower(), parts.path.rstrip("/"), parts.query


def _process(machine: Any, condition: Condition) -> str:
    running = machine.processes()
    for name in condition["include"]:
        if not any(name in line for line in running):
            return f"no process {name!r} is running"
    for name in condition["exclude"]:
        if any(name in line for line in running):
            return f"the process {name!r} is running"
    return ""


def _source(machine: Any, source: dict[str, Any]) -> str:
    if "command" in source:
        return str(machine.run(source["command"]).output)
    return str(machine.read_text(source["file"]))


CHECKS: dict[str, Callable[[Any, Condition], str]] = {
    "text": _text,
    "file": _file,
    "url": _url,
    "process": _process,
}
"""Each returns why a condition does not hold, or an empty text."""
