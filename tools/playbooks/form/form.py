"""Strict reading of playbooks: YAML that people write, errors that name line and nearest key.

A playbook is data: reading it does nothing, and everything that can be wrong in it is found before
the first step is performed. So unknown keys, keys that an action does not take, missing fields and
references to unknown parameters are errors here and not during a replay. ``docs/playbooks.md``
describes every key.
"""

from typing import cast, get_args

import yaml

from deskhand.tools.documents.documents import fail
from deskhand.tools.documents.errors import BadDocument
from deskhand.tools.documents.fields import DocumentFields
from deskhand.tools.documents.values import integer, items, scalar
from deskhand.tools.playbooks.errors import BadPlaybook
from deskhand.tools.playbooks.playbook import (
    CHECK_SECONDS,
    DEFAULT_SIZE,
    TARGET_SECONDS,
    WAIT_SECONDS,
    Action,
    Box,
    Check,
    Direction,
    FileCheck,
    Parameter,
    Playbook,
    PlaybookStep,
    Point,
    RegionCheck,
    Source,
    Start,
    StepWait,
    Target,
)
from deskhand.tools.playbooks.texts import NAME

from .fields import check_references, playbook_document, playbook_fields

VERSION = 1
MOST_STEPS = 500
MOST_SECONDS = 600.0

PLAYBOOK_KEYS = (
    *("name", "version", "description", "screen", "start", "parameters", "secrets", "steps"),
    "check",
)
_TARGET = ("role", "name", "near", "source", "point", "patch")
_WAIT = (
    *("text", "window", "url", "file", "changed_region", "quiet_ms", "seconds"),
    "timeout_seconds",
)
_CHECK = ("text", "window", "url", "file", "region", "timeout_seconds")
_COMMON = ("action", "intent", "wait")
_AIMED = (*_COMMON, "target", "timeout_seconds")
_CLICK = (*_AIMED, "holding")
_KEYS: dict[str, tuple[str, ...]] = {
    "click": _CLICK,
    "double_click": _CLICK,
    "triple_click": _CLICK,
    "right_click": _CLICK,
    "middle_click": _CLICK,
    "hover": _AIMED,
    "drag": (*_CLICK, "to"),
    "type": (*_AIMED, "text", "replace"),
    "type_secret": (*_AIMED, "secret", "replace"),
    "key": (*_AIMED, "keys"),
    "scroll": (*_CLICK, "direction", "amount"),
    "open_url": (*_COMMON, "url"),
    "execute": (*_COMMON, "command"),
    "wait": _COMMON,
}
"""Action to the keys of its step."""
_NEEDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("click", "double_click", "triple_click"), ("target",)),
    **dict.fromkeys(("right_click", "middle_click", "hover"), ("target",)),
    "drag": ("target", "to"),
    "type": ("text",),
    "type_secret": ("secret",),
    "key": ("keys",),
    "open_url": ("url",),
    "execute": ("command",),
    "wait": ("wait",),
}
STEP_KEYS = tuple(dict.fromkeys(key for keys in _KEYS.values() for key in keys))


def read_playbook(text: str) -> Playbook:
    """Return the playbook that a YAML text describes.

    Raises:
        BadPlaybook: If there is an error; it has the line.
    """
    root = playbook_document(text)
    try:
        return _playbook(root)
    except BadDocument as error:
        raise BadPlaybook(error.problem, error.line) from error


def _playbook(root: yaml.Node) -> Playbook:
    fields = playbook_fields(root, "the playbook", PLAYBOOK_KEYS)
    if (version := integer(fields.required("version"), "version", 1, 1000)) != VERSION:
        fail(fields.required("version"), f"version {version} is unknown; there is {VERSION}")
    name = _name(fields.required("name"), "name")
    parameters = _parameters(fields.node_of("parameters"))
    secrets = tuple(_name(node, "each of secrets") for node in fields.each("secrets"))
    nodes = items(fields.required("steps"), "steps")
    if not 1 <= len(nodes) <= MOST_STEPS:
        fail(fields.required("steps"), f"steps must be 1 to {MOST_STEPS} steps")
    for key in ("start", "steps", "check"):
        node = fields.node_of(key)
        if node is not None:
            check_references(node, tuple(parameters))
    return Playbook(
        name,
        tuple(_step(node, secrets) for node in nodes),
        tuple(_check(node) for node in fields.each("check")),
        _start(fields.node_of("start")),
        parameters,
        secrets,
        _screen(fields.node_of("screen")),
        fields.text("description"),
        version,
    )


def _name(node: yaml.Node, what: str) -> str:
    name = scalar(node, what)
    if not NAME.fullmatch(name) or len(name) > 100:
        fail(node, f"{what} must be of a-z, 0-9, - and _, begin with a letter: not {name!r}")
    return name


def _parameters(node: yaml.Node | None) -> dict[str, Parameter]:
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        fail(node, "parameters must be a mapping of names")
    found: dict[str, Parameter] = {}
    for key, value in node.value:
        name = _name(key, "the name of a parameter")
        if name in found:
            fail(key, f"the parameter {name!r} is there twice")
        fields = playbook_fields(value, f"the parameter {name!r}", ("default", "description"))
        default = fields.node_of("default")
        found[name] = Parameter(
            None if default is None else scalar(default, "default"), fields.text("description")
        )
    return found


def _screen(node: yaml.Node | None) -> tuple[int, int]:
    if node is None:
        return DEFAULT_SIZE
    fields = playbook_fields(node, "screen", ("width", "height"))
    width, height = (integer(fields.required(k), k, 1, 20_000) for k in ("width", "height"))
    return width, height


def _start(node: yaml.Node | None) -> Start | None:
    if node is None:
        return None
    fields = playbook_fields(node, "start", ("url", "command"))
    start = Start(fields.text("url"), fields.text("command"))
    if bool(start.url) == bool(start.command):
        fail(node, "start needs one of url, command")
    return start


def _step(node: yaml.Node, secrets: tuple[str, ...]) -> PlaybookStep:
    action = playbook_fields(node, "the step", STEP_KEYS).choice("action", tuple(_KEYS))
    if action is None:
        fail(node, f"the step needs 'action', one of {', '.join(_KEYS)}")
    fields = playbook_fields(node, f"a step {action!r}", _KEYS[action])
    for key in _NEEDS.get(action, ()):
        fields.required(key)
    text = fields.node_of("text")
    secret = fields.text("secret")
    if secret and secret not in secrets:
        fail(
            fields.required("secret"),
            f"the secret {secret!r} is not in the playbook's list of secrets",
        )
    return PlaybookStep(
        cast(Action, action),
        fields.text("intent"),
        _target(fields.node_of("target")),
        _target(fields.node_of("to"), "to"),
        None if text is None else scalar(text, "text"),
        fields.flag("replace"),
        fields.text("keys"),
        fields.text("holding"),
        secret,
        fields.text("url"),
        fields.text("command"),
        cast(Direction, fields.choice("direction", get_args(Direction), "down")),
        fields.integer("amount", 5, least=1, most=100),
        fields.number("timeout_seconds", TARGET_SECONDS, least=0, most=MOST_SECONDS),
        _wait(fields.node_of("wait")),
    )


def _target(node: yaml.Node | None, what: str = "target") -> Target | None:
    if node is None:
        return None
    fields = playbook_fields(node, what, _TARGET)
    target = Target(
        fields.text("role"),
        fields.text("name"),
        fields.texts("near"),
        cast(Source | None, fields.choice("source", get_args(Source))),
        cast(Point | None, fields.integers("point", "[x, y]")),
        fields.text("patch"),
    )
    if not (target.has_identity or target.point or target.patch):
        fail(node, f"{what} needs role, name, patch or point")
    if target.patch.startswith("/") or ".." in target.patch.split("/"):
        fail(fields.required("patch"), "patch must be a file in the folder of the playbook")
    return target


def _wait(node: yaml.Node | None) -> StepWait | None:
    if node is None:
        return None
    fields = playbook_fields(node, "wait", _WAIT)
    if not any(key in fields for key in _WAIT if key != "timeout_seconds"):
        fail(node, f"wait needs one of {', '.join(_WAIT[:-1])}")
    quiet, seconds = fields.node_of("quiet_ms"), fields.node_of("seconds")
    return StepWait(
        fields.text("text"),
        fields.text("window"),
        fields.text("url"),
        fields.text("file"),
        _box(fields, "changed_region"),
        None if quiet is None else integer(quiet, "quiet_ms", 0, 60_000),
        None if seconds is None else fields.number("seconds", 0, least=0, most=MOST_SECONDS),
        fields.number("timeout_seconds", WAIT_SECONDS, least=0, most=MOST_SECONDS),
    )


def _box(fields: DocumentFields, key: str) -> Box | None:
    box = cast(Box | None, fields.integers(key, "[left, top, right, bottom]"))
    if box is not None and not (box[0] < box[2] and box[1] < box[3]):
        fail(fields.required(key), f"{key} must have left < right and top < bottom")
    return box


def _check(node: yaml.Node) -> Check:
    fields = playbook_fields(node, "a check", _CHECK)
    kinds = [key for key in _CHECK[:-1] if key in fields]
    if len(kinds) != 1:
        fail(node, f"a check needs exactly one of {', '.join(_CHECK[:-1])}")
    return Check(
        fields.text("text"),
        fields.text("window"),
        fields.text("url"),
        _file(fields.node_of("file")),
        _region(fields.node_of("region")),
        fields.number("timeout_seconds", CHECK_SECONDS, least=0, most=MOST_SECONDS),
    )


def _file(node: yaml.Node | None) -> FileCheck | None:
    if node is None:
        return None
    fields = playbook_fields(node, "file", ("path", "contains", "sha256"))
    contains = fields.node_of("contains")
    digest = fields.text("sha256").lower()
    if digest and (len(digest) != 64 or not _is_hex(digest)):
        fail(fields.required("sha256"), "sha256 must be 64 hexadecimal digits")
    fields.required("path")
    return FileCheck(
        fields.text("path"), None if contains is None else scalar(contains, "contains"), digest
    )


def _region(node: yaml.Node | None) -> RegionCheck | None:
    if node is None:
        return None
    fields = playbook_fields(node, "region", ("box", "hash"))
    fields.required("box")
    digest = scalar(fields.required("hash"), "hash").lower()
    if len(digest) != 16 or not _is_hex(digest):
        fail(fields.required("hash"), "hash must be 16 hexadecimal digits")
    return RegionCheck(cast(Box, _box(fields, "box")), digest)


def _is_hex(text: str) -> bool:
    return all(one in "0123456789abcdef" for one in text)
