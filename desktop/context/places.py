"""Places of an agent's context, as variables of the environment name them. Pure.

A list has items between commas. A path that begins with ``~`` lies in the agent's home, a relative
one in the working directory. A variable that is missing or blank has its default.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deskhand.desktop.fields import at_home

PREFIX = "DESKHAND_"
ALIAS = "CODER_AGENT_EXP_"
"""Prefix of the same names in the reference system."""

DEFAULTS = {
    "INSTRUCTIONS_DIRS": "~/.deskhand",
    "INSTRUCTIONS_FILE": "AGENTS.md",
    "SKILLS_DIRS": ".agents/skills",
    "SKILL_META_FILE": "SKILL.md",
    "MCP_CONFIG_FILES": ".mcp.json",
}
VARIABLES = tuple(f"{prefix}{name}" for prefix in (PREFIX, ALIAS) for name in DEFAULTS)
"""All variables, which a control plane passes on to its desktops."""


@dataclass(frozen=True)
class ContextPlaces:
    """Directories and names of files."""

    instruction_dirs: Sequence[Path]
    instruction_file: str
    skill_dirs: Sequence[Path]
    skill_file: str
    mcp_files: Sequence[Path]


def context_places(environment: Mapping[str, str], home: Path, workdir: Path) -> ContextPlaces:
    """Return the places for commands in ``workdir`` of a user with this home."""

    def value(name: str) -> str:
        texts = (environment.get(f"{prefix}{name}", "").strip() for prefix in (PREFIX, ALIAS))
        return next(filter(None, texts), DEFAULTS[name])

    def paths(name: str) -> list[Path]:
        items = (item.strip() for item in value(name).split(","))
        return list(dict.fromkeys(_resolved(item, home, workdir) for item in items if item))

    instructions = paths("INSTRUCTIONS_DIRS")
    return ContextPlaces(
        instructions if workdir in instructions else [*instructions, workdir],
        value("INSTRUCTIONS_FILE"),
        paths("SKILLS_DIRS"),
        value("SKILL_META_FILE"),
        paths("MCP_CONFIG_FILES"),
    )


def _resolved(path: str, home: Path, workdir: Path) -> Path:
    return workdir / at_home(path, home)
