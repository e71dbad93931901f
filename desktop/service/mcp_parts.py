"""The MCP servers of one desktop's agent, whose files the agent helper reads."""

import os
from contextlib import AsyncExitStack, suppress
from pathlib import Path

from deskhand.desktop.agent_helper.connections import HelperConnections
from deskhand.desktop.agent_helper.files import HelperFiles
from deskhand.desktop.context.places import context_places
from deskhand.desktop.errors import Occupied
from deskhand.desktop.mcp_client.agent_files import AgentConfigFiles
from deskhand.desktop.mcp_client.connector import McpConnector
from deskhand.desktop.mcp_client.server_program import ServerPrograms
from deskhand.desktop.mcp_client.tool_servers import ToolServers
from deskhand.desktop.processes.cgroup_choice import Choice
from deskhand.desktop.processes.registry import CommandEnvironment
from deskhand.desktop.programs.child_launcher import ChildLauncher

from .parts import VERSION, CommonParts
from .process_settings import process_settings

LEASE_SECONDS = 60.0
"""Time of one wait for a change of the lease; another wait follows."""


async def open_tool_servers(
    stack: AsyncExitStack,
    common: CommonParts,
    environment: CommandEnvironment,
    cgroup: Choice,
) -> ToolServers:
    """Open the servers; none is started before the first request."""

    def workdirs() -> list[Path]:
        folders = environment.workdir(), Path(environment.environment().get("HOME", "/"))
        return [folder for folder in folders if folder is not None]

    home = Path(environment.environment().get("HOME", "/"))
    places = context_places(os.environ, home, common.workdir)

    def may_start() -> bool:
        with suppress(Occupied):
            common.check_start()
            return True
        return False

    async def stopped() -> None:
        while may_start():
            await common.lease.changed(common.lease.revision, LEASE_SECONDS)

    context = common.context
    settings = process_settings(
        *(context.settings, context.directory, cgroup),
        processes=None if context.limits is None else context.limits.processes,
    )
    launcher = context.launcher or ChildLauncher()
    programs = ServerPrograms(environment.environment, workdirs, launcher, settings.limits)
    await stack.enter_async_context(programs)
    servers = ToolServers(
        AgentConfigFiles(HelperFiles(common.helper), places.mcp_files),
        McpConnector(programs, HelperConnections(common.helper), VERSION),
        trust=context.settings.trust_mcp_servers,
        may_start=may_start,
        stopped=stopped,
    )
    return await stack.enter_async_context(servers)
