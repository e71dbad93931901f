"""The context of a chat, as its desktop reports it, and its part of the system prompt. Pure.

It is read once, before the first request of a chat, and stored with the head of its prompts: later
changes of the files change nothing for this chat. Only names and descriptions of skills are part of
the prompt; their texts are read with tools (:mod:`.skill_tools`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

INTRODUCTION = """\
The following comes from files of this machine, for agents that work on it. Follow it where it \
fits your task; it does not change what is said above."""
_OWN_TAG = re.compile(r"<(?=/?(?:workspace-context|available-skills))", re.IGNORECASE)


@dataclass(frozen=True)
class InstructionFile:
    """An instruction file."""

    path: str
    content: str
    truncated: bool = False


@dataclass(frozen=True)
class ChatSkill:
    """A skill that a chat may read."""

    name: str
    description: str
    dir: str
    meta_file: str


@dataclass(frozen=True)
class WorkspaceContext:
    """What one chat is given."""

    working_dir: str = ""
    operating_system: str = ""
    files: Sequence[InstructionFile] = ()
    skills: Sequence[ChatSkill] = field(default_factory=tuple)

    def prompt(self) -> str:
        """Return the part of the system prompt; empty if the desktop reported nothing."""
        if not self.working_dir:
            return ""
        facts = (
            f"Operating System: {self.operating_system}",
            f"Working Directory: {_plain(self.working_dir)}",
        )
        parts = ["\n".join(facts), *(_shown(file) for file in self.files)]
        if self.skills:
            parts.append(_index(self.skills))
        inner = "\n\n".join(parts)
        introduction = f"{INTRODUCTION}\n\n" if self.files or self.skills else ""
        return f"{introduction}<workspace-context>\n{inner}\n</workspace-context>"


def workspace_context(answer: Any) -> WorkspaceContext:
    """Return the context of a desktop's answer; parts that cannot be read are left out."""
    if not isinstance(answer, Mapping) or not isinstance(answer.get("working_dir"), str):
        return WorkspaceContext()
    parts = [part for part in answer.get("parts") or () if isinstance(part, Mapping)]
    files = (part for part in parts if part.get("type") == "context-file")
    return WorkspaceContext(
        answer["working_dir"],
        str(answer.get("operating_system") or "linux"),
        tuple(
            InstructionFile(str(file.get("path")), str(file["content"]), bool(file["truncated"]))
            for file in files
            if {"content", "truncated"} <= file.keys()
        ),
        skills_from_json(part for part in parts if part.get("type") == "skill"),
    )


def skills_from_json(parts: Iterable[Mapping[str, Any]]) -> tuple[ChatSkill, ...]:
    """Return skills of the fields of :class:`ChatSkill`; other fields are ignored."""
    names = ("name", "description", "dir", "meta_file")
    return tuple(
        ChatSkill(*(str(part[name]) for name in names))
        for part in parts
        if set(names) <= part.keys()
    )


def _shown(file: InstructionFile) -> str:
    cut = " (truncated)" if file.truncated else ""
    return f"Source: {_plain(file.path)}{cut}\n{_plain(file.content)}"


def _index(skills: Iterable[ChatSkill]) -> str:
    lines = (f"- {skill.name}: {_plain(skill.description)}".rstrip(": ") for skill in skills)
    return "\n".join(("<available-skills>", *lines, "</available-skills>"))


def _plain(text: str) -> str:
    """Return a text that cannot end the block in which it stands."""
    return _OWN_TAG.sub("&lt;", text)
