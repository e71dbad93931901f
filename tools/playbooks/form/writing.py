"""Writing of playbooks as YAML that people read and edit."""

import math
from dataclasses import fields
from typing import Any

import yaml

from deskhand.tools.playbooks.playbook import (
    Check,
    FileCheck,
    Parameter,
    Playbook,
    PlaybookStep,
    RegionCheck,
    Start,
    StepWait,
    Target,
)

Json = dict[str, Any]

_ONE_LINE = math.inf


class _Dumper(yaml.SafeDumper):
    """Writes lists of numbers, targets and waits on one line each."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: object) -> bool:
        return True


class _Line(dict[str, Any]):
    """A mapping that is written on one line."""


class _Row(list[Any]):
    """A list that is written on one line."""


_Dumper.add_representer(
    _Line, lambda d, v: d.represent_mapping("tag:yaml.org,2002:map", v.items(), flow_style=True)
)
_Dumper.add_representer(
    _Row, lambda d, v: d.represent_sequence("tag:yaml.org,2002:seq", v, flow_style=True)
)


def write_playbook(playbook: Playbook) -> str:
    """Return the YAML text; reading it returns an equal playbook."""
    width, height = playbook.screen
    content: Json = {"name": playbook.name, "version": playbook.version}
    if playbook.description:
        content["description"] = playbook.description
    content["screen"] = _Line(width=width, height=height)
    if playbook.start is not None:
        content["start"] = _Line(_given(playbook.start, Start()))
    if playbook.parameters:
        content["parameters"] = {
            name: _Line(_given(one, Parameter())) for name, one in playbook.parameters.items()
        }
    if playbook.secrets:
        content["secrets"] = _Row(playbook.secrets)
    content["steps"] = [step_content(step) for step in playbook.steps]
    if playbook.check:
        content["check"] = [_check(one) for one in playbook.check]
    return _dumped(content)


def write_step(step: PlaybookStep) -> str:
    """Return the YAML text of one step, for people."""
    return _dumped([step_content(step)])


def write_target(target: Target) -> str:
    """Return the YAML text of a target, on one line."""
    return _dumped(_Line(_given(target, Target())), width=_ONE_LINE).strip()


def step_content(step: PlaybookStep) -> Json:
    """Return the fields of a step as they are written."""
    first = {"intent": step.intent} if step.intent else {}
    given = _given(step, PlaybookStep(step.action))
    if step.target is not None:
        given["target"] = _Line(_given(step.target, Target()))
    if step.to is not None:
        given["to"] = _Line(_given(step.to, Target()))
    if step.wait is not None:
        given["wait"] = _Line(_given(step.wait, StepWait()))
    return {**first, "action": step.action, **given}


def _check(check: Check) -> Json:
    given = _given(check, Check())
    if check.file is not None:
        given["file"] = _Line(_given(check.file, FileCheck("")))
    if check.region is not None:
        given["region"] = _Line(_given(check.region, RegionCheck((0, 0, 0, 0), "")))
    return given


def _given(value: Any, default: Any) -> Json:
    """Return the fields of a value that differ from those of ``default``."""
    return {
        one.name: _plain(getattr(value, one.name))
        for one in fields(value)
        if getattr(value, one.name) != getattr(default, one.name)
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return _Row(value)
    return value


def _dumped(content: Any, width: float = 100) -> str:
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=width)
