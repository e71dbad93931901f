"""Name and description of a skill, from the front matter of its file. Pure.

The front matter is YAML between lines of ``---``. Of YAML only scalars at the top level are read,
on one line or as a block; other keys may have any value, which is skipped.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .sanitizing import sanitized

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LONGEST_DESCRIPTION = 1_024
_KEY = re.compile(r"([A-Za-z0-9_-]+):(?:[ \t]+(.*)|)$")
_BLOCK = re.compile(r"([|>])[+-]?[0-9]?[+-]?$")
_NOT_STRING = re.compile(r"~|null|true|false|[-+]?[0-9.][0-9._eE+-]*|[\[{&*!].*", re.IGNORECASE)


class BadSkill(Exception):
    """The file is not that of a skill; the text is the reason."""


@dataclass(frozen=True)
class SkillMeta:
    """Name and description of a skill, from which an agent chooses what to read."""

    name: str
    description: str


def skill_meta(text: str, folder: str) -> SkillMeta:
    """Return name and description of a skill in a directory of this name.

    Raises:
        BadSkill: If there is no front matter, or its name is missing or wrong.
    """
    fields = front_matter(text)
    name = fields.get("name")
    if name is None:
        raise BadSkill("its front matter has no name that is a text")
    if NAME.fullmatch(name) is None:
        raise BadSkill(f"the name {name!r} is not of lower-case words with hyphens")
    if name != folder:
        raise BadSkill(f"its name {name} is not that of its directory, {folder}")
    description = " ".join(sanitized(fields.get("description") or "").split())
    return SkillMeta(name, description[:LONGEST_DESCRIPTION])


def front_matter(text: str) -> dict[str, str]:
    """Return the texts of the front matter, by their keys.

    Raises:
        BadSkill: If there is none.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != "---":
        raise BadSkill("it has no front matter")
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise BadSkill("its front matter has no end")
    found: dict[str, str] = {}
    number = 1
    while number < end:
        match = _KEY.fullmatch(lines[number].rstrip())
        number += 1
        if match is None:
            continue
        below = number
        while number < end and (not lines[number].strip() or lines[number][0] in " \t"):
            number += 1
        value = _scalar((match[2] or "").strip(), lines[below:number])
        if value is not None:
            found.setdefault(match[1], value)
    return found


def body(text: str) -> str:
    """Return what follows the front matter; the whole text if there is none."""
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].rstrip() != "---":
        return text
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == "---":
            return "".join(lines[number + 1 :])
    return text


def _scalar(value: str, below: Sequence[str]) -> str | None:
    """Return the text of a value; None for what is no text."""
    block = _BLOCK.fullmatch(value)
    if block is not None:
        joint = "\n" if block[1] == "|" else " "
        return joint.join(line.strip() for line in below).strip()
    if value[:1] in ("'", '"'):
        return _quoted(value)
    value = re.split(r"[ \t]#", value)[0].rstrip()
    folded = " ".join(filter(None, (value, *(line.strip() for line in below))))
    if not value or _NOT_STRING.fullmatch(value):
        return None
    return folded


def _quoted(value: str) -> str | None:
    quote = value[0]
    end = value.find(quote, 1)
    while quote == "'" and end != -1 and value[end + 1 : end + 2] == "'":
        end = value.find(quote, end + 2)
    while quote == '"' and end != -1 and value[end - 1] == "\\":
        end = value.find(quote, end + 1)
    if end == -1:
        return None
    inner = value[1:end]
    return inner.replace("''", "'") if quote == "'" else re.sub(r"\\(.)", r"\1", inner)
