"""Facts about paths of the agent, found by the helper."""

from pathlib import Path

from deskhand.desktop.applications.applications import PathKind

from .agent_helper import AgentHelper
from .errors import AgentHelperError


class HelperPaths:
    """Finds facts about paths, for threads other than that of the event loop."""

    def __init__(self, helper: AgentHelper) -> None:
        self._helper = helper

    def kind_of(self, path: Path) -> PathKind:
        """Return the facts for the agent's user; without an answer, it can read nothing. Blocks."""
        try:
            value = self._helper.call_blocking("kind", path=str(path)).value
        except (AgentHelperError, OSError):
            return PathKind(readable=False, is_dir=False)
        return PathKind(value.get("readable") is True, value.get("is_dir") is True)
