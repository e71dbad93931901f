"""Write docs/python-api.md, the reference of the Python client, from its docstrings.

Usage: python -m scripts.make_python_api
"""

import ast
import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deskhand

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "python-api.md"

_INTRODUCTION = """# Python API

This page is written from the docstrings by `python -m scripts.make_python_api`. How to begin is in
[python.md](python.md).

`AsyncClient`, `AsyncDesktop`, `AsyncRun` and `async_expect` are the same with `await`, `async with`
and `async for`.
"""

SECTIONS: dict[str, tuple[str, ...]] = {
    "Control plane": (
        *("tools.client.client_sync:Client", "tools.client.run_sync:Run"),
        *("tools.client.run_sync:RunRecording", "tools.client.run_events_sync:RunEvents"),
        "tools.client.collections_sync:DesktopCollection",
        "tools.client.collections_sync:FileCollection",
        "tools.client.collections_sync:TokenCollection",
        "tools.client.collections_sync:SecretCollection",
    ),
    "Desktop": (
        "desktop.remote_sync:Desktop",
        *(f"desktop.client.input_devices_sync:{name}" for name in ("Mouse", "Keyboard")),
        "desktop.remote_sync:Recordings",
        *(
            f"desktop.client.session_sync:{name}"
            for name in ("Clipboard", "Windows", "Applications", "Lease", "EventStream")
        ),
    ),
    "Tests": (
        "tools.client.expectations_sync:expect",
        "tools.client.expectations_sync:Expectation",
    ),
    "Values of a control plane": tuple(
        f"tools.client.values:{name}"
        for name in (
            *("RunStatus", "RunQuestion", "RunStep", "RunMessage", "RunEvent", "RunFile"),
            *("PlaneDesktop", "AccessToken", "SecretRules"),
        )
    ),
    "Values of a desktop": (
        *(
            f"desktop.results:{name}"
            for name in (
                *("Picture", "Done", "Batch", "Ended", "Recording", "Status", "Widget", "Window"),
                *("Application", "Started", "Tenure", "Event"),
            )
        ),
        "desktop.client.awaited:Awaited",
        *(f"desktop.client.browser_result:{name}" for name in ("BrowserResult", "Tab")),
    ),
}

_ROLE = re.compile(r":(?:class|meth|func):`~?([\w.]+)`")


def page() -> tuple[str, list[str]]:
    """Return the page, and a warning for each thing that has no docstring."""
    warnings: list[str] = []
    parts = [_INTRODUCTION]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}\n")
        for name in names:
            parts += _described(_loaded(name), warnings)
    parts += ["## Errors\n", *_errors(warnings)]
    return "\n".join(parts), warnings


def _loaded(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(f"deskhand.{module}"), attribute)


def _described(thing: Any, warnings: list[str]) -> Iterator[str]:
    if not inspect.isclass(thing):
        yield f"### `{thing.__name__}{_signature(thing)}`\n"
        yield _doc(thing, thing.__name__, warnings)
        return
    yield f"### `{thing.__name__}`\n"
    yield _doc(thing, thing.__name__, warnings)
    if dataclasses.is_dataclass(thing):
        for field, text in _fields(thing):
            yield f"- `{field}`{': ' + _prose(text) if text else ''}"
        yield ""
    for name, member in vars(thing).items():
        if name.startswith("_"):
            continue
        called = f"{thing.__name__}.{name}"
        if isinstance(member, property):
            yield f"#### `{called}`\n"
            yield _doc(member.fget, called, warnings)
        elif inspect.isfunction(member) or isinstance(member, classmethod):
            function = getattr(thing, name)
            yield f"#### `{called}{_signature(function)}`\n"
            yield _doc(function, called, warnings)


def _fields(thing: Any) -> Iterator[tuple[str, str]]:
    """Return the fields of a dataclass, each with the string below it."""
    body = ast.parse(inspect.getsource(thing)).body[0]
    assert isinstance(body, ast.ClassDef)  # noqa: S101 - the source is that of a class
    # The string of a field stands below it.
    for number, node in enumerate(body.body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            below = body.body[number + 1] if number + 1 < len(body.body) else None
            text = ""
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                text = str(below.value.value)
            yield f"{node.target.id}: {ast.unparse(node.annotation)}", text


def _signature(function: Any) -> str:
    shown = str(inspect.signature(function))
    # Names of modules are noise, and a method is called without ``self``.
    shown = re.sub(r"\b(?:deskhand|collections|pathlib|typing)[\w.]*\.(\w+)", r"\1", shown)
    shown = re.sub(r"'(\w+)'", r"\1", shown).replace("''", '""')
    return re.sub(r"^\(self(?:, )?", "(", shown)


def _doc(thing: Any, name: str, warnings: list[str]) -> str:
    text = inspect.getdoc(thing)
    if not text:
        warnings.append(f"{name} has no docstring")
        return ""
    missing = [referred for referred in _ROLE.findall(text) if not _exists(referred)]
    warnings += [f"{name} refers to {referred}, which does not exist" for referred in missing]
    return _prose(text) + "\n"


def _exists(name: str) -> bool:
    """Return whether a reference has a target: a member of a class, or an exported name."""
    first, _, member = name.partition(".")
    known = {one.__name__: one for names in SECTIONS.values() for one in map(_loaded, names)}
    if member:
        return hasattr(known.get(first), member)
    return hasattr(deskhand, name) or any(hasattr(one, name) for one in known.values())


def _prose(text: str) -> str:
    """Return a docstring as Markdown."""
    text = _ROLE.sub(r"`\1`", text).replace("``", "`")
    text = re.sub(r"^Raises:\n", "Raises:\n\n", text, flags=re.MULTILINE)
    text = re.sub(r"^    (\w+): ", r"- `\1`: ", text, flags=re.MULTILINE)
    # A doctest begins a block that ends with the paragraph.
    return re.sub(r"(>>> .*(?:\n.+)*)", r"```python\n\1\n```", text)


def _errors(warnings: list[str]) -> Iterator[str]:
    errors = importlib.import_module("deskhand.tools.client.errors")
    found = [one for one in vars(errors).values() if inspect.isclass(one)]
    for error in sorted(found, key=lambda one: [base.__name__ for base in reversed(one.__mro__)]):
        bases = [one for one in error.__mro__[1:] if issubclass(one, deskhand.DeskhandError)]
        below = f" (below `{bases[0].__name__}`)" if bases else ""
        yield f"### `{error.__name__}`{below}\n"
        yield _doc(error, error.__name__, warnings)
        if advice := vars(error).get("advice"):
            yield f"What to do: {advice}\n"


def main() -> int:
    """Write the page; return 1 if anything has no docstring."""
    text, warnings = page()
    PAGE.write_text(text.rstrip() + "\n")
    for warning in warnings:
        sys.stderr.write(f"{warning}\n")
    return 1 if warnings else 0


if __name__ == "__main__":
    sys.exit(main())
