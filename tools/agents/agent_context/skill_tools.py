"""The tools by which an agent reads its skills: their text, and files beside it."""

import json
import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.desktop.context.sanitizing import sanitized
from deskhand.desktop.context.skill_meta import body
from deskhand.desktop.fields import Field, Fields, word
from deskhand.tools.kit.support.arguments import CheckedTool, unusable
from deskhand.tools.kit.support.process_result import Unreachable
from deskhand.tools.kit.support.spec import Json, Machine, Tool, ToolContext, ToolOutcome, ToolSpec

from .agent_context import ChatSkill

LARGEST = 512 * 1024
"""Bytes of a file of a skill."""
MOST_FILES = 200
_SKILL = Field({"type": "string", "description": "Name in available-skills."}, word)

READ_SKILL = ToolSpec.of(
    "read_skill",
    "Read a skill: instructions for a kind of task. Read one before you begin such a task. Lists "
    "the files that belong to it, for read_skill_file.",
    Fields({"name": _SKILL}, ("name",)),
)
READ_SKILL_FILE = ToolSpec.of(
    "read_skill_file",
    "Read a text file that belongs to a skill.",
    Fields(
        {
            "name": _SKILL,
            "path": Field(
                {"type": "string", "description": "Path in the directory of the skill."}, word
            ),
        },
        ("name", "path"),
    ),
)


class ReadSkillTool(CheckedTool):
    """Reads the text of a skill, without its front matter."""

    def __init__(self, skills: Mapping[str, ChatSkill]) -> None:
        self._skills = skills

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return READ_SKILL

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Read the skill and list its files."""
        try:
            skill = _skill(self._skills, given)
            content, _ = await _content(context.machine, skill.meta_file)
            files = await _files(context.machine, skill)
        except Unreachable as error:
            return ToolOutcome(error=str(error))
        return ToolOutcome(
            {
                "name": skill.name,
                "dir": skill.dir,
                "body": sanitized(body(content)),
                "files": list(files),
            }
        )


class ReadSkillFileTool(CheckedTool):
    """Reads a file of a skill."""

    def __init__(self, skills: Mapping[str, ChatSkill]) -> None:
        self._skills = skills

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return READ_SKILL_FILE

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Read the file."""
        try:
            skill = _skill(self._skills, given)
            path = posixpath.join(skill.dir, file_path(given["path"]))
            content, is_cut = await _content(context.machine, path)
        except Unreachable as error:
            return ToolOutcome(error=str(error))
        return ToolOutcome(
            {"content": sanitized(content)} | ({"truncated": True} if is_cut else {})
        )


def skill_tools(skills: Sequence[ChatSkill]) -> dict[str, Tool]:
    """Return the tools for these skills, by name; none if there are no skills."""
    known = {skill.name: skill for skill in skills}
    tools: tuple[Tool, ...] = (ReadSkillTool(known), ReadSkillFileTool(known)) if known else ()
    return {tool.spec.name: tool for tool in tools}


def file_path(path: str) -> str:
    """Return the path of a file in the directory of a skill.

    Raises:
        BadField: If it is absolute, leads out of the directory, or names a hidden file.
    """
    parts = path.split("/")
    if path.startswith("/") or "\0" in path:
        raise unusable("path", "path must be relative to the directory of the skill")
    if any(part.startswith(".") for part in parts):
        raise unusable("path", "path must not have parts that begin with a dot")
    if not all(parts):
        raise unusable("path", "path must name a file")
    return path


def _skill(skills: Mapping[str, ChatSkill], given: Json) -> ChatSkill:
    name = given["name"]
    if name not in skills:
        raise unusable("name", f'skill "{name[:100]}" not found; there are {", ".join(skills)}')
    return skills[name]


async def _content(machine: Machine, path: str) -> tuple[str, bool]:
    params = {"path": path, "limit": str(LARGEST + 1)}
    answer: Any = await machine.request("GET", "/api/v0/read-file", params=params)
    # The machine parses what the name of a file declares to be JSON.
    data = answer if isinstance(answer, bytes) else json.dumps(answer, indent=2).encode()
    if b"\0" in data:
        raise unusable("path", "the file is not a text")
    return data[:LARGEST].decode("utf-8", "replace"), len(data) > LARGEST


async def _files(machine: Machine, skill: ChatSkill) -> Sequence[str]:
    asked = {"path": skill.dir, "pattern": "", "globs": ["**"], "offset": 0, "limit": MOST_FILES}
    answer = await machine.request("POST", "/api/v0/search", json=asked)
    found = answer.get("matches") if isinstance(answer, dict) else None
    paths = sorted({posixpath.relpath(str(one["path"]), skill.dir) for one in found or ()})
    main = posixpath.relpath(skill.meta_file, skill.dir)
    return [path for path in paths if path != main and not path.startswith(".")]
