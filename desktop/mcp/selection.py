"""The tools that are offered: chosen by group, by what they may change, and with which pictures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from .errors import BadMcpOption
from .tool import GROUPS, Group, McpTool

Pictures = Literal["on", "changed", "off"]
PICTURES: tuple[Pictures, ...] = ("on", "changed", "off")
_YES = ("1", "true", "yes", "")


@dataclass(frozen=True)
class ToolSelection:
    """The options of one server, or of one request over HTTP."""

    groups: tuple[Group, ...] = GROUPS
    read_only: bool = False
    pictures: Pictures = "changed"
    """When an action is answered with a picture; ``off`` applies to every tool."""

    def offered(self, tools: Iterable[McpTool]) -> tuple[McpTool, ...]:
        """Return the tools of the chosen groups, in the order of the table."""
        return tuple(
            tool
            for tool in tools
            if tool.group in self.groups and (tool.read_only or not self.read_only)
        )


def groups_of(text: str) -> tuple[Group, ...]:
    """Return the groups of a list such as ``computer,shell``.

    Recording belongs to ``computer``. Raises ``BadMcpOption``.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    known = [group for group in GROUPS if group != "record"]
    wrong = [name for name in names if name not in known]
    if wrong or not names:
        named = f"{', '.join(wrong)!r} is no group" if wrong else "no group was named"
        raise BadMcpOption(f"{named}: the groups of tools are {', '.join(known)}")
    return tuple(
        group for group in GROUPS if group in names or (group == "record" and "computer" in names)
    )


def pictures_of(text: str) -> Pictures:
    """Return the named setting for pictures; raises ``BadMcpOption``."""
    found = next((one for one in PICTURES if one == text), None)
    if found is None:
        raise BadMcpOption(f"pictures is {', '.join(PICTURES)}, not {text[:40]!r}")
    return found


def selection_of(query: Mapping[str, str]) -> ToolSelection:
    """Return the options in the query of ``/mcp``: ``tools``, ``read_only``, ``pictures``.

    Raises ``BadMcpOption``.
    """
    chosen = ToolSelection()
    return ToolSelection(
        groups_of(query["tools"]) if "tools" in query else chosen.groups,
        query["read_only"].lower() in _YES if "read_only" in query else chosen.read_only,
        pictures_of(query["pictures"]) if "pictures" in query else chosen.pictures,
    )
