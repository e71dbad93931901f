"""The part of every prompt of a chat that is fixed when the chat begins. Pure.

Newer models refuse a conversation whose system prompt or tools have changed since their replies. A
program of a later version, or a tool that has come or gone, therefore changes nothing for a chat
that has begun: a tool that is gone answers with an error, and a new one is offered to new chats.
"""

from dataclasses import asdict, dataclass
from typing import Any

from deskhand.tools.agents.agent_context.agent_context import ChatSkill, skills_from_json
from deskhand.tools.kit.support.spec import ToolSpec
from deskhand.tools.kit.support.untrusted import Source, explained

Json = dict[str, Any]


@dataclass(frozen=True)
class PromptHead:
    """System prompt, tools and skills of one chat."""

    system: str
    tools: tuple[ToolSpec, ...]
    skills: tuple[ChatSkill, ...] = ()

    @property
    def explained_marks(self) -> frozenset[Source]:
        """Sources with which results are marked."""
        return explained(self.system)

    def to_json(self) -> Json:
        """Return a JSON form that :func:`head_from_json` reads back."""
        skills = {"skills": [asdict(skill) for skill in self.skills]} if self.skills else {}
        return {
            **skills,
            "system": self.system,
            "tools": [
                {"name": one.name, "description": one.description, "schema": one.schema}
                for one in self.tools
            ],
        }


def head_from_json(data: Json) -> PromptHead:
    """Read what :meth:`PromptHead.to_json` wrote."""
    tools = (ToolSpec(one["name"], one["description"], one["schema"]) for one in data["tools"])
    return PromptHead(data["system"], tuple(tools), skills_from_json(data.get("skills", ())))
