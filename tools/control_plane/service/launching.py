"""Start of the launcher, while the control plane has the rights of its starter; and the fleet.

Also used by the daemon of a node, which has no database: nothing of one is loaded here.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from deskhand.desktop.isolation.data_dir import open_root, run_root
from deskhand.desktop.launch.limits import GivenLimits, limit_options
from deskhand.desktop.launch_port.exec_launch import LaunchConfiguration
from deskhand.desktop.launch_port.keeper_records import KeeperRecords
from deskhand.desktop.network.egress import EgressPolicy, ports_of
from deskhand.tools.control_plane.process_user import ProcessUser
from deskhand.tools.control_plane.settings import Settings, egress_policy
from deskhand.tools.fleet.fleet import Fleet
from deskhand.tools.fleet.launcher_client import (
    LauncherClient,
    inner_launcher,
    launcher_process,
    standing_launcher,
)
from deskhand.tools.fleet.registry import DesktopRegistry
from deskhand.tools.fleet.sockets import SOCKETS, SocketFolder
from deskhand.tools.launcher.launcher import PROFILES, LauncherConfiguration
from deskhand.tools.templates.library import TemplateLibrary

WORKDIRS = "work"
TEMPLATES = "templates"
"""Folder of the templates in the data directory."""


@dataclass(frozen=True)
class DesktopLaunching:
    """The launcher of a control plane, and the settings of its desktops."""

    client: LauncherClient
    root: Path
    """Folder of the desktops' directories."""
    sockets: Path
    """Folder of their sockets."""
    has_root: bool
    """True if desktops get users, networks and limits of their own."""


@contextmanager
def launching(
    settings: Settings, environment: Mapping[str, str], user: ProcessUser | None = None
) -> Iterator[DesktopLaunching]:
    """Run a launcher while the block runs; ``user`` is the one that the control plane becomes.

    Raises:
        OSError: If the folder of the desktops cannot be used.
    """
    if settings.launcher and os.geteuid() != 0:
        root = run_root(0, environment)
        with standing_launcher(Path(settings.launcher)) as client:
            yield DesktopLaunching(client, root, sockets_of(root, os.geteuid()), has_root=True)
        return
    root = run_root(os.geteuid(), environment)
    with ExitStack() as stack:
        stack.callback(os.close, open_root(root))
        yield stack.enter_context(_own_launcher(settings, environment, user, root))


@contextmanager
def _own_launcher(
    settings: Settings, environment: Mapping[str, str], user: ProcessUser | None, root: Path
) -> Iterator[DesktopLaunching]:
    """Run a launcher for this control plane alone while the block runs."""
    has_root = os.geteuid() == 0
    sockets = root / SOCKETS
    if user is not None:
        # Control planes of other users may have desktops below the same root.
        sockets = make_sockets(root, user)
    configuration = launcher_configuration(settings, root)
    _take_over(settings, KeeperRecords(root, configuration.owner))
    if not has_root:
        with closing(inner_launcher(configuration, environment)) as client:
            yield DesktopLaunching(client, root, sockets, has_root)
        return
    with launcher_process(configuration, environment) as client:
        yield DesktopLaunching(client, root, sockets, has_root)


def sockets_of(root: Path, uid: int) -> Path:
    """Return the folder of the desktops' sockets of a control plane that is not root."""
    return root / f"{SOCKETS}-{uid}"


def make_sockets(root: Path, user: ProcessUser) -> Path:
    """Make this folder, as root."""
    sockets = sockets_of(root, user.uid)
    sockets.mkdir(mode=0o700, exist_ok=True)
    os.chown(sockets, user.uid, user.gid)
    return sockets


def _take_over(settings: Settings, records: KeeperRecords) -> None:
    """Record the desktops that a version without launcher has left."""
    folder = settings.data_dir / "run" / "desktops"
    # Another user could name any process in it.
    if not folder.is_dir() or folder.stat().st_uid != os.geteuid():
        return
    for entry in DesktopRegistry(folder).all():
        if records.get(entry.id) is None:
            records.keep(entry.id, entry.start_time, entry.boot_id, entry.pid)


def given_limits(settings: Settings) -> GivenLimits:
    """Return the limits of each desktop that an operator has set."""
    sizes = settings.desktop_processes, settings.desktop_memory_mib, settings.desktop_tmp_mib
    return GivenLimits(*sizes, settings.desktop_cpu_weight)


def _profiles(data_dir: str, root: Path) -> Path:
    """Return the folder of the named profiles of a control plane."""
    if os.geteuid() != 0:
        return Path(data_dir, PROFILES)
    # The user of the control plane owns the data directory, and could put links in it.
    owner = hashlib.sha256(os.fsencode(data_dir)).hexdigest()
    return root / PROFILES / owner[:16]


def launcher_configuration(settings: Settings, root: Path) -> LauncherConfiguration:
    """Return what a launcher is started with."""
    data_dir = str(settings.data_dir.absolute())
    workdirs = str(Path(settings.workdirs or root / WORKDIRS).expanduser().absolute())
    options = (
        *("--browser", settings.browser, "--browser-sandbox", settings.browser_sandbox),
        *limit_options(given_limits(settings)),
        *("--uid-base", str(settings.uid_base)),
    )
    profiles = str(_profiles(data_dir, root))
    hidden = (data_dir, workdirs)
    launch = LaunchConfiguration(str(root), workdirs, options, hidden, profiles)
    return LauncherConfiguration(data_dir, launch)


def plane_egress(settings: Settings, launching: DesktopLaunching, url: str) -> EgressPolicy:
    """Return the egress of desktops; ``url`` is where the control plane is served.

    Raises:
        InvalidEgress: If a grant leads there.
    """
    policy = egress_policy(settings, root=launching.has_root or bool(settings.cluster))
    return replace(policy, own_ports=policy.own_ports | ports_of((url,))).check()


def new_fleet(
    settings: Settings, live_url: Callable[[str], str], launching: DesktopLaunching
) -> Fleet:
    """Return the fleet, before it is opened."""
    return Fleet(
        DesktopRegistry(settings.data_dir / "run" / "desktops"),
        launching.client,
        launching.root,
        SocketFolder(launching.sockets),
        settings.data_dir / "logs",
        live_url,
        egress=egress_policy(settings, root=launching.has_root).base,
        speak=settings.speak,
        templates=TemplateLibrary(settings.data_dir / TEMPLATES),
    )
