"""Code of ``python -c`` that only calls pyautogui, read without being run. Pure.

OSWorld sends each action as such code. Its calls become actions of the desktop, so that a text is
typed exactly and no process is started. Any other code is run by Python.
"""

import ast
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from .calls import SIGNATURES, Json, actions_of

LONGEST_CODE = 200_000
_MODULES = ("pyautogui", "time")
_SETTINGS = ("FAILSAFE", "PAUSE")
_TWEENS = ("ease", "linear")
"""Beginnings of the functions of pyautogui by which a pointer moves."""

Call = tuple[str, list[Any], dict[str, Any]]


def code_of(words: Sequence[str]) -> str | None:
    """Return the code of a command ``python -c CODE``; None for any other command."""
    if len(words) != 3 or words[1] != "-c":
        return None
    return words[2] if PurePath(words[0]).name in ("python", "python3") else None


def input_of(code: str) -> list[Json] | None:
    """Return the actions of code that only calls pyautogui and ``time.sleep`` with literals.

    None for all other code, which Python has to run.
    """
    if len(code) > LONGEST_CODE:
        return None
    try:
        calls = [call for one in ast.parse(code).body for call in _calls(one)]
        return actions_of(calls)
    # `ast.parse` raises these for code that Python itself reports.
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, OverflowError):
        return None


def _calls(statement: ast.stmt) -> list[Call]:
    match statement:
        case ast.Pass():
            return []
        case ast.Import(names=names):
            if any(one.name not in _MODULES or one.asname for one in names):
                raise ValueError
            return []
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id="pyautogui"), attr=name)], value=value
        ) if name in _SETTINGS:
            found = ast.literal_eval(value)
            return [(name, [found], {})] if name == "PAUSE" else []
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)) as x
        ):
            if module not in _MODULES or (module == "time") != (name == "sleep"):
                raise ValueError
            if name not in SIGNATURES or name == "PAUSE":
                raise ValueError
            keywords = {str(one.arg): _literal(one.value) for one in x.keywords if one.arg}
            if len(keywords) != len(x.keywords):
                raise ValueError
            return [(name, [_literal(one) for one in x.args], keywords)]
        case _:
            raise ValueError


def _literal(node: ast.expr) -> Any:
    match node:
        # The path between two points is not the caller's: the pointer moves smoothly anyway.
        case ast.Attribute(value=ast.Name(id="pyautogui"), attr=name) if name.startswith(_TWEENS):
            return None
        case _:
            return ast.literal_eval(node)
