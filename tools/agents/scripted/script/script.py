"""A script: the replies of a scripted model, step by step.

::

    about: Opens a page and clicks its red button.
    steps:
      - say: Opening the page.
        calls:
          - execute: {command: "browser --kiosk {prompt:url}", run_in_background: true}
      - needs: {blob: "#e6194b", tries: 60}
        calls:
          - computer.left_click: {coordinate: {blob: "#e6194b"}}
      - report: {summary: "The button was clicked.", outcome: done, evidence: [2]}

``about`` states what the script demonstrates. One step is one reply. ``think`` puts a thinking
block before it. A step with calls expects their results before the next step; one without ends the
turn. ``needs`` holds a step back until the
newest picture shows a blob of the colour (or, with ``changed``, differs from the oldest picture at
hand by that fraction); until then the model waits a second at a time, at most ``tries`` times.
``otherwise: go_on`` plays the step all the same after that, ``fail`` (the default) ends the turn.
``again_while`` names a key in the result of the step's calls: as long as it is true the step is
played again.

``checks`` lists kinds of safety checks that the step's computer calls carry, as
``malicious_instructions``; protocols without such checks leave them out.

``fault`` breaks the first ``times`` answers: ``rate_limit``, ``overloaded``, ``server_error``,
``no_credit`` and ``refused_image`` refuse, ``same_id`` repeats the id of the first call, ``cut``
breaks the connection, ``unfinished`` ends the stream too early, ``stream_error`` puts an error into
it, ``malformed`` spoils the calls' input, ``slow`` holds everything back for ``seconds``.
``empty_summary`` empties the summaries that are asked for before the step.

In every text ``{prompt}`` is the newest thing a person said, ``{prompt:url}`` the newest address
in it, ``{result:a.b}`` the newest value a tool gave under that path, and ``{calls}`` how many
calls were made so far. ``|sh`` quotes for a shell, ``|line`` keeps the first line.

A script is data, not code, so that it can be read, and refused with the place of a mistake, before
anything is played.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from .vision import DEFAULT_TOLERANCE, colour

Json = dict[str, Any]
FaultKind = Literal[
    "rate_limit",
    "overloaded",
    "server_error",
    "no_credit",
    "refused_image",
    "same_id",
    "cut",
    "unfinished",
    "stream_error",
    "malformed",
    "empty_summary",
    "slow",
]
Otherwise = Literal["fail", "go_on"]

TOOLSETS = ("computer", "browser")
"""Toolsets whose members scripts call, as ``computer.screenshot``."""


@dataclass(frozen=True)
class Patch:
    """A colour to look for in the newest picture."""

    colour: tuple[int, int, int]
    tolerance: int = DEFAULT_TOLERANCE


@dataclass(frozen=True)
class Needs:
    """Condition on the newest picture, without which a step is not played."""

    blob: Patch | None = None
    at_least: int = 1
    """Pixels of the blob."""
    changed: float | None = None
    tries: int = 60
    otherwise: Otherwise = "fail"


@dataclass(frozen=True)
class ScriptedCall:
    """A tool call; a ``{blob: ...}`` in ``input`` has become a :class:`Patch`."""

    name: str
    input: Json
    toolset: str | None = None


@dataclass(frozen=True)
class Fault:
    """Failure of the first ``times`` answers at a step."""

    kind: FaultKind
    times: int = 1
    seconds: float = 0.0


@dataclass(frozen=True)
class ScriptStep:
    """One reply."""

    say: str = ""
    think: str | None = None
    """Text of a thinking block at the begin of the reply, which the server signs; may be empty."""
    calls: tuple[ScriptedCall, ...] = ()
    needs: Needs | None = None
    again_while: str | None = None
    stop_reason: str | None = None
    """The provider's reason for the end of the reply, where it is not the usual one."""
    fault: Fault | None = None
    checks: tuple[str, ...] = ()
    """Kinds of safety checks that the computer calls carry, for protocols that have them."""


@dataclass(frozen=True)
class Script:
    """The steps under a name, which is the name of the model."""

    name: str
    steps: tuple[ScriptStep, ...] = field(default=())
    about: str = ""
    """What it demonstrates, for people who choose one."""


class BadScript(Exception):
    """A script that cannot be played; ``where`` is the path of the mistake."""

    def __init__(self, name: str, where: str, problem: str) -> None:
        super().__init__(name, where, problem)
        self.name = name
        self.where = where
        self.problem = problem

    def __str__(self) -> str:
        return f"script {self.name}: {self.where}: {self.problem}"


def read_script(name: str, data: object) -> Script:
    """Convert the content of a YAML or JSON file to a script.

    Raises:
        BadScript: At the first key or value that is not understood.
    """
    return _Reader(name).script(data)


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name

    def script(self, data: object) -> Script:
        top = self._object(data, "the file", {"about", "steps"})
        steps = self._list(top.get("steps"), "steps")
        if not steps:
            raise self._bad("steps", "at least one is required")
        read = (self._step(step, f"steps.{i}") for i, step in enumerate(steps))
        return Script(self._name, tuple(read), self._text(top.get("about", ""), "about"))

    def _step(self, data: object, where: str) -> ScriptStep:
        keys = {"say", "think", "calls", "checks", "needs", "again_while", "stop_reason", "fault"}
        keys.add("report")
        step = self._object(data, where, keys)
        given = self._list(step.get("calls", []), f"{where}.calls")
        calls = [self._call(call, f"{where}.calls.{i}") for i, call in enumerate(given)]
        # The report is the last call of its step: the loop does not run calls after a report.
        if "report" in step:
            calls.append(self._call({"report": step["report"]}, where))
        say = self._text(step.get("say", ""), f"{where}.say")
        stop_reason = self._optional_text(step, "stop_reason", where)
        if not (calls or say or stop_reason):
            raise self._bad(where, "a step must say, call or report something")
        again_while = self._optional_text(step, "again_while", where)
        checks = self._list(step.get("checks", []), f"{where}.checks")
        return ScriptStep(
            say,
            self._optional_text(step, "think", where),
            tuple(calls),
            self._needs(step["needs"], f"{where}.needs") if "needs" in step else None,
            again_while,
            stop_reason,
            self._fault(step["fault"], f"{where}.fault") if "fault" in step else None,
            tuple(self._text(one, f"{where}.checks") for one in checks),
        )

    def _call(self, data: object, where: str) -> ScriptedCall:
        if not isinstance(data, dict) or len(data) != 1:
            raise self._bad(where, "must be one tool's name and its input")
        (name, given), *_ = data.items()
        at = f"{where}.{name}"
        if not isinstance(name, str):
            raise self._bad(at, "a tool's name must be a text")
        # YAML reads a tool without arguments (``- computer.screenshot:``) as null.
        arguments = self._object(given or {}, at, None)
        arguments = cast(Json, self._value(arguments, at))
        toolset, dot, member = name.partition(".")
        if dot and toolset in TOOLSETS:
            return ScriptedCall(member, arguments, toolset)
        return ScriptedCall(name, arguments)

    def _value(self, value: object, where: str) -> object:
        if isinstance(value, dict):
            if "blob" in value:
                return self._patch(value, where)
            return {key: self._value(item, f"{where}.{key}") for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item, f"{where}.{i}") for i, item in enumerate(value)]
        return value

    def _patch(self, data: object, where: str) -> Patch:
        patch = self._object(data, where, {"blob", "tolerance"})
        tolerance = self._number(patch, "tolerance", where, int, DEFAULT_TOLERANCE)
        return Patch(self._colour(patch["blob"], f"{where}.blob"), int(tolerance))

    def _colour(self, value: object, where: str) -> tuple[int, int, int]:
        try:
            return colour(self._text(value, where))
        except ValueError as error:
            raise self._bad(where, "must be a colour as #rrggbb") from error

    def _needs(self, data: object, where: str) -> Needs:
        keys = {"blob", "tolerance", "at_least", "changed", "tries", "otherwise"}
        needs = self._object(data, where, keys)
        # The player tests one of the two conditions only, so that a second one would be ignored
        # silently.
        if ("blob" in needs) == ("changed" in needs):
            raise self._bad(where, "must name either a blob or changed")
        patch = {key: needs[key] for key in ("blob", "tolerance") if key in needs}
        defaults = Needs()
        otherwise = needs.get("otherwise", defaults.otherwise)
        self._one_of(otherwise, get_args(Otherwise), f"{where}.otherwise")
        return Needs(
            self._patch(patch, where) if "blob" in needs else None,
            int(self._number(needs, "at_least", where, int, defaults.at_least)),
            self._number(needs, "changed", where, float, 0.0) if "changed" in needs else None,
            int(self._number(needs, "tries", where, int, defaults.tries)),
            otherwise,
        )

    def _fault(self, data: object, where: str) -> Fault:
        fault = self._object(data, where, {"kind", "times", "seconds"})
        self._one_of(fault.get("kind"), get_args(FaultKind), f"{where}.kind")
        return Fault(
            fault["kind"],
            int(self._number(fault, "times", where, int, 1)),
            self._number(fault, "seconds", where, float, 0.0),
        )

    def _object(self, value: object, where: str, keys: set[str] | None) -> Json:
        if not isinstance(value, dict):
            raise self._bad(where, "must be a mapping")
        for key in value:
            if keys is not None and key not in keys:
                raise self._bad(f"{where}.{key}", f"unknown; known are {', '.join(sorted(keys))}")
        return value

    def _list(self, value: object, where: str) -> list[object]:
        if not isinstance(value, list):
            raise self._bad(where, "must be a list")
        return value

    def _text(self, value: object, where: str) -> str:
        if not isinstance(value, str):
            raise self._bad(where, "must be a text")
        return value

    def _optional_text(self, data: Json, key: str, where: str) -> str | None:
        return self._text(data[key], f"{where}.{key}") if key in data else None

    def _number(
        self, data: Json, key: str, where: str, kind: Callable[[Any], float], default: float
    ) -> float:
        value = data.get(key, default)
        # ``bool`` is a subclass of ``int``, but ``tries: true`` is a mistake.
        good = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        # The comparison with the converted value refuses 2.5 where a whole number is needed and
        # permits 2.0.
        if not good or kind(value) != value:
            raise self._bad(f"{where}.{key}", "must be a number, not negative")
        return kind(value)

    def _one_of(self, value: object, choices: tuple[str, ...], where: str) -> None:
        if value not in choices:
            raise self._bad(where, f"must be one of {', '.join(choices)}")

    def _bad(self, where: str, problem: str) -> BadScript:
        return BadScript(self._name, where, problem)
