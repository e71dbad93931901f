"""The origins of a desktop's processes, by which it is decided what is stopped in private."""

import os

from deskhand.desktop.display.child_processes import ChildProcessSpawner
from deskhand.desktop.display.instance import DisplayInstance
from deskhand.desktop.freeze.selection import Origins
from deskhand.desktop.processes.registry import Registry

from .parts import CommonParts

_LAUNCHERS = ("openbox", "tint2")


def origins(
    common: CommonParts,
    spawner: ChildProcessSpawner,
    instance: DisplayInstance | None,
    registry: Registry,
) -> Origins:
    """Return the present origins; ``instance`` is None before a display has started.

    Any thread may call it.
    """
    pids = {} if instance is None else instance.session.pids()
    launchers = frozenset(pids[name] for name in _LAUNCHERS if name in pids)
    account = common.context.account
    # A bus of the service's user is none of the processes that are stopped.
    bus = {pids["dbus-daemon"]} if "dbus-daemon" in pids and not account.browser_separated else ()
    return Origins(
        uid=account.agent.uid,
        browser_uid=account.browser.uid if account.browser_separated else None,
        fork_servers=common.fork_servers,
        service=spawner.pids() | {os.getpid()},
        bus=frozenset(bus),
        launchers=launchers,
        applications=registry.applications(),
        browser_argument=f"--user-data-dir={common.context.directory.path / 'browser'}",
    )
