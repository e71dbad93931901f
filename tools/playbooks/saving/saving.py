"""Conversion of a finished run to a playbook. Pure.

The calls of the run become steps, one after the other:

- Calls that only look are left out, and so is scrolling before an action whose target is found by
  its identity: a replay scrolls by itself.
- A click on a field and the typing that follows are one step.
- ``wait_for`` becomes the wait of the step before it. Where the next step has no target, a step
  that changed the screen waits until the screen is quiet, and as long as the run waited.
- Typed texts become parameters, also where they occur in other texts; secrets stay names.
- The checks are those of :mod:`.checks`.

What a playbook has no action for is an error that names the call, and never left out.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from deskhand.tools.conversation.step_target import StepTarget
from deskhand.tools.kit.support.computer_calls import PIXELS_A_NOTCH, distance_of
from deskhand.tools.kit.support.refused_tools import is_looking
from deskhand.tools.playbooks.errors import NotReplayable
from deskhand.tools.playbooks.playbook import (
    DEFAULT_SIZE,
    WAIT_SECONDS,
    Action,
    Playbook,
    PlaybookStep,
    Start,
    StepWait,
    Target,
)
from deskhand.tools.playbooks.texts import escaped

from .checks import checks_of
from .parameters import TypedTexts
from .recorded_run import RecordedRun, RecordedStep

Json = dict[str, Any]

QUIET_MS = 300
REST = StepWait(quiet_ms=QUIET_MS)

_CLICKS: Mapping[str, Action] = {
    "left_click": "click",
    "double_click": "double_click",
    "triple_click": "triple_click",
    "right_click": "right_click",
    "middle_click": "middle_click",
}
_PRESSED = {"back_click": "alt+Left", "forward_click": "alt+Right"}
_OPENING = re.compile(
    r"(?:\S*/)?(?:browser|xdg-open)\s+(?P<url>(?:https?|file|about):\S+|'[^']+')\s*&?"
)
_ALL = "ctrl+a"


@dataclass(frozen=True)
class SavedRun:
    """A playbook, and the pictures of its targets by their file names."""

    playbook: Playbook
    patches: Mapping[str, bytes]


def saved_run(run: RecordedRun, name: str, description: str = "") -> SavedRun:
    """Return the playbook of a run.

    Raises:
        NotReplayable: If a call has no counterpart in a playbook, or there is nothing to replay.
    """
    made = _Conversion()
    for step in run.steps:
        made.add(step)
    return made.saved(run, name, description)


class _Conversion:
    def __init__(self) -> None:
        self._steps: list[PlaybookStep] = []
        self._rests: list[StepWait | None] = []
        """What each step waits for if the next one has no target."""
        self._typed = TypedTexts()
        self._secrets: list[str] = []
        self._screen = DEFAULT_SIZE
        self._patches: dict[str, bytes] = {}

    def add(self, step: RecordedStep) -> None:
        """Convert one call."""
        if step.name == "wait_for" and not step.computer:
            self._wait(step)
        elif step.name == "wait" and self._rests:
            self._rests[-1] = replace(REST, seconds=float(step.arguments["duration"]))
        elif not is_looking(step.name, "computer" if step.computer else None):
            made = self._made(step)
            self._steps.append(made)
            self._rests.append(REST if step.changed else None)

    def saved(self, run: RecordedRun, name: str, description: str) -> SavedRun:
        """Return the playbook of all calls that were added."""
        steps = [self._with_parameters(one) for one in self._ended()]
        if not steps:
            raise NotReplayable("the run has no action that can be replayed")
        start = None
        if len(steps) > 1 and steps[0].action == "open_url" and steps[0].wait is None:
            start = Start(url=steps.pop(0).url)
        playbook = Playbook(
            name,
            tuple(steps),
            checks_of(run, steps, self._screen, self._typed.replaced),
            start,
            self._typed.parameters,
            tuple(self._secrets),
            self._screen,
            description,
        )
        used = {one.patch for step in steps for one in (step.target, step.to) if one is not None}
        patches = {file: data for file, data in self._patches.items() if file in used}
        return SavedRun(playbook, patches)

    def _wait(self, step: RecordedStep) -> None:
        given = step.arguments
        region = given.get("changed_region")
        wait = StepWait(
            escaped(str(given.get("text") or "")),
            escaped(str(given.get("window") or "")),
            escaped(str(given.get("url") or "")),
            changed_region=None if region is None else tuple(region),
            quiet_ms=given.get("quiet_ms"),
            timeout_seconds=float(given.get("timeout_seconds") or WAIT_SECONDS),
        )
        # A process has another id in each run: the replay waits for the screen instead.
        if wait == StepWait(timeout_seconds=wait.timeout_seconds):
            wait = replace(REST, timeout_seconds=wait.timeout_seconds)
        if self._steps and self._steps[-1].wait is None:
            self._steps[-1] = replace(self._steps[-1], wait=wait)
        else:
            self._steps.append(PlaybookStep("wait", escaped(step.intent), wait=wait))
            self._rests.append(None)

    def _made(self, step: RecordedStep) -> PlaybookStep:
        intent, given = escaped(step.intent), step.arguments
        target = self._target(step.target, step.number, "")
        if step.computer and step.name in _CLICKS:
            aimed = target or _point(given.get("coordinate"))
            if aimed is not None:
                holding = str(given.get("text") or "")
                return PlaybookStep(_CLICKS[step.name], intent, aimed, holding=holding)
        make = {"type": self._typing, "type_secret": self._secret, "left_click_drag": self._drag}
        if step.name in make and "path" not in given:
            return make[step.name](step, intent, target)
        match step.name:
            case "mouse_move":
                return PlaybookStep("hover", intent, target or _point(given["coordinate"]))
            case "key":
                keys = " ".join([given["text"]] * int(given.get("repeat") or 1))
                return PlaybookStep("key", intent, keys=escaped(keys))
            case "back_click" | "forward_click":
                return PlaybookStep("key", intent, keys=_PRESSED[step.name])
            case "scroll":
                direction, pixels = distance_of(given)
                amount = max(1, round(pixels / PIXELS_A_NOTCH))
                return PlaybookStep("scroll", intent, target, direction=direction, amount=amount)
            case "execute":
                return _command(step, intent)
        raise NotReplayable(
            f"step {step.number} of the run is a call of {step.name}, which no step of a playbook"
            " can perform"
        )

    def _drag(self, step: RecordedStep, intent: str, target: Target | None) -> PlaybookStep:
        given = step.arguments
        begin = target or _point(given["start_coordinate"])
        to = self._target(step.to, step.number, "-to") or _point(given["coordinate"])
        return PlaybookStep("drag", intent, begin, to, holding=str(given.get("text") or ""))

    def _typing(self, step: RecordedStep, intent: str, target: Target | None) -> PlaybookStep:
        field, replaces, intent = self._entered(target, intent)
        hidden = field is not None and field.role == "password text"
        text = self._typed.parameter(str(step.arguments["text"]), field, hidden=hidden)
        return PlaybookStep("type", intent, field, text=text, replace=replaces)

    def _secret(self, step: RecordedStep, intent: str, target: Target | None) -> PlaybookStep:
        field, replaces, intent = self._entered(target, intent)
        name = str(step.arguments["name"]).strip()
        if name not in self._secrets:
            self._secrets.append(name)
        return PlaybookStep("type_secret", intent, field, secret=name, replace=replaces)

    def _entered(
        self, target: Target | None, intent: str
    ) -> tuple[Target | None, bool | None, str]:
        """Take back the steps that put the cursor into the field; return how it is entered."""
        replaces = False
        if self._steps and self._steps[-1].action == "key" and self._steps[-1].keys == _ALL:
            replaces = True
            self._drop()
        last = self._steps[-1] if self._steps else None
        if last is not None and last.wait is None and last.action in ("click", "triple_click"):
            clicked = last.target
            same = target is None or (clicked is not None and _same(clicked, target))
            if same and clicked is not None and clicked.has_identity:
                self._drop()
                replaces = replaces or last.action == "triple_click"
                return clicked, None if replaces else False, intent or last.intent
        if target is None or not target.has_identity:
            return None, True if replaces else None, intent
        return target, None if replaces else False, intent

    def _drop(self) -> None:
        self._steps.pop()
        self._rests.pop()

    def _target(self, found: StepTarget | None, number: int, end: str) -> Target | None:
        if found is None:
            return None
        patch = ""
        if found.patch and found.point is not None:
            patch = f"patches/{number}{end}.png"
            self._patches[patch] = found.patch
        if found.screen != (0, 0):
            self._screen = found.screen
        near = tuple(map(escaped, found.near))
        target = Target(found.role, escaped(found.name), near, "accessibility", found.point, patch)
        if not target.has_identity:
            target = replace(target, source=None)
        return target if target.has_identity or target.point or patch else None

    def _ended(self) -> list[PlaybookStep]:
        """Return the steps without needless scrolling, and with a wait where one is needed."""
        kept: list[PlaybookStep] = []
        for index, step in enumerate(self._steps):
            following = next((s for s in self._steps[index + 1 :] if s.action != "scroll"), None)
            aimed = following and following.target
            if step.action == "scroll" and aimed and aimed.has_identity:
                continue
            rest = self._rests[index]
            if step.wait is None and following and not aimed and rest is not None:
                step = replace(step, wait=rest)
            kept.append(step)
        return kept

    def _with_parameters(self, step: PlaybookStep) -> PlaybookStep:
        wait = step.wait
        if wait is not None and wait.text:
            wait = replace(wait, text=self._typed.replaced(wait.text))
        return replace(step, wait=wait)


def _command(step: RecordedStep, intent: str) -> PlaybookStep:
    command = str(step.arguments["command"]).strip()
    opened = _OPENING.fullmatch(command)
    if opened:
        url = shlex.split(opened["url"].removesuffix("&"))[0]
        return PlaybookStep("open_url", intent, url=escaped(url))
    if step.arguments.get("run_in_background") and not command.endswith("&"):
        command += " &"
    return PlaybookStep("execute", intent, command=escaped(command))


def _same(one: Target, other: Target) -> bool:
    return (one.role, one.name) == (other.role, other.name)


def _point(value: Any) -> Target | None:
    return None if value is None else Target(point=(int(value[0]), int(value[1])))
