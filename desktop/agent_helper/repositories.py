"""Repositories of the agent, read by the helper: the port of the git watcher."""

from collections.abc import Sequence

from deskhand.desktop.git.errors import Unreadable
from deskhand.desktop.git.repository_state import Repository

from .agent_helper import AgentHelper
from .errors import AgentHelperError


class HelperRepositories:
    """Finds and reads working trees."""

    def __init__(self, helper: AgentHelper) -> None:
        self._helper = helper

    async def roots(
        self, paths: Sequence[str], known: Sequence[str]
    ) -> tuple[Sequence[str], Sequence[str]]:
        """Return which known working trees are gone, and those known or with one of the paths.

        Raises:
            Unreadable: If the helper does not answer.
        """
        try:
            reply = await self._helper.call("git.roots", paths=list(paths), known=list(known))
        except AgentHelperError as error:
            raise Unreadable(", ".join(known), str(error)) from error
        match reply.value:
            case {"gone": [*gone], "found": [*found]}:
                # Only a working tree that is known can be gone.
                return [root for root in known if root in gone], [str(root) for root in found]
        raise Unreadable(", ".join(known), "the helper's answer is not understood")

    async def read(self, root: str) -> Repository:
        """Return the state of a working tree; raises Unreadable."""
        try:
            value = (await self._helper.call("git.read", root=root)).value
        except AgentHelperError as error:
            raise Unreadable(root, str(error)) from error
        match value:
            case {
                "branch": str(branch),
                "remote_origin": str(origin),
                "unified_diff": str(diff),
            }:
                return Repository(root, branch, origin, diff)
        raise Unreadable(root, "the helper's answer is not understood")
