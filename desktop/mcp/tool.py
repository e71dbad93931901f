"""A tool of the MCP server, and the result of a call of it."""

from dataclasses import dataclass, field
from typing import Any, Literal

from deskhand.desktop.fields import Fields

Json = dict[str, Any]

Group = Literal["computer", "shell", "files", "agents", "record"]
GROUPS: tuple[Group, ...] = ("computer", "shell", "files", "agents", "record")


@dataclass(frozen=True)
class McpTool:
    """One row of the table of tools; the hints are those of the protocol's ``ToolAnnotations``."""

    group: Group
    name: str
    title: str
    description: str
    arguments: Fields
    result: Json
    """JSON Schema of each field of the structured content, by name."""
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False

    def to_json(self) -> Json:
        """Return the tool as ``tools/list`` answers it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.arguments.schema,
            "outputSchema": {"type": "object", "properties": self.result},
            "annotations": {
                "readOnlyHint": self.read_only,
                "destructiveHint": self.destructive,
                "idempotentHint": self.idempotent,
                "openWorldHint": self.open_world,
            },
        }


@dataclass(frozen=True)
class McpImage:
    """The picture of a result."""

    data: bytes
    media_type: str


@dataclass(frozen=True)
class McpQuestion:
    """A question of an agent to a person, which the host may show."""

    chat_id: str
    text: str
    id: str = ""
    """Names it, so that the answer to it is none to a later one."""


@dataclass(frozen=True)
class McpResult:
    """Result of a call. The text suffices without the image, which some hosts drop."""

    text: str
    content: Json = field(default_factory=dict)
    """The structured content: all but the image."""
    image: McpImage | None = None
    is_error: bool = False
    question: McpQuestion | None = None
    """Set while an agent waits for a person."""
