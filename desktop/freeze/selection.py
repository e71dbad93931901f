"""Selection of the processes to stop while the screen and the keyboard are private. Pure.

Every process of the agent's user is stopped, except these:

* *service*: processes that the desktop needs, named by pid: the service itself, the X server, the
  window manager and the panel;
* *bus*: without namespaces, where these work as the agent's user, the message bus, and the programs
  of AT-SPI, which are its children or, after a second fork, have no parent among the user's
  processes;
* *application*: programs that the service launched. Their own subprocesses of the same program
  belong to them only for browsers, which draw their windows in such processes.

A browser with a user of its own is an application; every other process of its user, such as the
program for an address that a page has, is stopped.

A program in the tree of an application, such as the shell in a terminal, is stopped: the agent may
have prepared it. A window is no reason to keep a process.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

Role = Literal["service", "bus", "application", "stop", "foreign"]

BUS_PROGRAMS = frozenset(
    {
        *("/usr/bin/dbus-daemon", "/usr/libexec/at-spi-bus-launcher"),
        *("/usr/libexec/at-spi2-registryd", "/usr/bin/env"),
    }
)
"""Programs of AT-SPI, which the message bus starts; `env` replaces itself with another one."""

BROWSERS = frozenset({"brave", "chrome", "chromium", "firefox", "firefox-esr", "msedge"})
"""Names of the executables that draw their windows in subprocesses of the same program."""


SHELLS = frozenset({"/bin/dash", "/usr/bin/bash", "/usr/bin/dash"})
"""Shells that run the command line of an application that the service launched."""


class ProcessFacts(NamedTuple):
    """One process, as proc(5) shows it."""

    pid: int
    parent: int
    uid: int
    name: str
    started: int
    """Start time in clock ticks; together with ``pid`` it identifies the process."""
    stopped: bool = False
    program: str | None = None
    """Path of the executable; None if it must not be read, as that of a sandboxed process, or if
    the path does not identify it, as that of a file of the user's own."""
    arguments: tuple[str, ...] = ()
    asleep: bool = False
    """True in uninterruptible sleep: a signal takes effect before its next instruction."""
    frozen: bool = False
    """True if its control group is stopped."""


class Origins(NamedTuple):
    """The processes that are known by how they were started."""

    uid: int
    """User whose processes are stopped."""
    service: frozenset[int] = frozenset()
    fork_servers: frozenset[int] = frozenset()
    """Processes whose children belong to the service: the agent helpers."""
    bus: frozenset[int] = frozenset()
    """The message bus, if it works as that user."""
    launchers: frozenset[int] = frozenset()
    """Programs whose children are applications: window manager and panel."""
    applications: frozenset[int] = frozenset()
    """Programs that the service launched."""
    browser_uid: int | None = None
    """User of the browser, if it is not that of the other applications."""
    browser_argument: str = ""
    """Argument by which the desktop's own browser is recognized: its profile."""


class StopPlan(NamedTuple):
    """The processes to stop, parents before their children."""

    stop: tuple[ProcessFacts, ...]
    foreign: tuple[ProcessFacts, ...]
    """Descendants of the processes to stop that belong to another user and cannot be stopped."""


def selection(table: Iterable[ProcessFacts], origins: Origins) -> StopPlan:
    """Return the processes to stop."""
    ordered, roles = _roles(table, origins)
    return StopPlan(
        tuple(process for process in ordered if roles[process.pid] == "stop"),
        tuple(process for process in ordered if roles[process.pid] == "foreign"),
    )


def is_browser(pid: int, table: Iterable[ProcessFacts], origins: Origins) -> bool:
    """Return whether a process is a browser that the service launched."""
    ordered, roles = _roles(table, origins)
    return any(
        process.pid == pid and roles[pid] == "application" and _draws_in_children(process)
        for process in ordered
    )


def _roles(
    table: Iterable[ProcessFacts], origins: Origins
) -> tuple[Sequence[ProcessFacts], Mapping[int, Role | None]]:
    """Return the processes, parents before their children, and the role of each by its pid."""
    found = {process.pid: process for process in table}
    # A shell with job control reports a child that stops before itself, so parents come first.
    ordered = sorted(found.values(), key=lambda process: (_depth(process, found), process.pid))
    roles: dict[int, Role | None] = {}
    for process in ordered:
        parent = found.get(process.parent)
        roles[process.pid] = _role(process, parent, roles.get(process.parent), origins)
    return ordered, roles


def _depth(process: ProcessFacts, table: Mapping[int, ProcessFacts]) -> int:
    depth, seen = 0, {process.pid}
    # A table that was read while processes ended may contain a cycle of reused pids.
    while (parent := table.get(process.parent)) is not None and parent.pid not in seen:
        seen.add(parent.pid)
        process = parent
        depth += 1
    return depth


def _role(
    process: ProcessFacts,
    parent: ProcessFacts | None,
    parent_role: Role | None,
    origins: Origins,
) -> Role | None:
    if process.pid in origins.service - origins.bus:
        return "service"
    if process.pid in origins.fork_servers or process.parent in origins.fork_servers:
        return "service"
    if process.uid == origins.browser_uid:
        return "application" if _is_of_browser(process, parent, parent_role, origins) else "stop"
    if process.uid != origins.uid:
        return "foreign" if parent_role in ("stop", "foreign") else None
    orphan = parent is None or parent.uid != origins.uid
    started_by_bus = parent_role == "bus" or orphan
    is_of_bus = bool(origins.bus) and started_by_bus and process.program in BUS_PROGRAMS
    if process.pid in origins.bus or is_of_bus:
        return "bus"
    if process.pid in origins.applications or process.parent in origins.launchers:
        return "application"
    if origins.browser_uid is None and _is_browser(process, origins):
        return "application"
    if parent is None or parent_role != "application":
        return "stop"
    launched = parent.pid in origins.applications and parent.program in SHELLS
    return "application" if launched or _is_part(process, parent) else "stop"


def _is_of_browser(
    process: ProcessFacts,
    parent: ProcessFacts | None,
    parent_role: Role | None,
    origins: Origins,
) -> bool:
    if process.pid in origins.applications or _is_browser(process, origins):
        return True
    if parent is None or parent_role != "application" or parent.uid != process.uid:
        return False
    launched = parent.pid in origins.applications and parent.program in SHELLS
    return launched or _is_part(process, parent)


def _is_browser(process: ProcessFacts, origins: Origins) -> bool:
    # Chromium overwrites its arguments with one text.
    words = f" {' '.join(process.arguments)} "
    own = bool(origins.browser_argument) and f" {origins.browser_argument} " in words
    return own and " --type=" not in words and _draws_in_children(process)


def _is_part(process: ProcessFacts, parent: ProcessFacts) -> bool:
    return _draws_in_children(parent) and process.program == parent.program


def _draws_in_children(process: ProcessFacts) -> bool:
    return process.program is not None and PurePosixPath(process.program).name in BROWSERS
