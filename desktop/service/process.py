"""The process of one desktop service."""

import asyncio
import faulthandler
import importlib
import locale
import os
import pwd
import sys
from contextlib import AbstractContextManager, ExitStack, nullcontext, redirect_stdout
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from socket import socket

from deskhand.desktop.agent_helper.launch import (
    HelperForks,
    HelperLaunch,
    StartHelper,
    own_forks,
)
from deskhand.desktop.agent_helper.wire.start_message import HelperStart
from deskhand.desktop.agent_socket.binding import agent_socket
from deskhand.desktop.display.session_files import SESSION_SERVICES, WIDGET_SERVICES
from deskhand.desktop.errors import DesktopError
from deskhand.desktop.isolation.account import Account
from deskhand.desktop.isolation.bus_config import (
    WIDGET_BUS,
    BusUsers,
    widget_bus_configs,
    write_bus_config,
)
from deskhand.desktop.isolation.claims import USER_LOCKS, claimed
from deskhand.desktop.isolation.data_dir import DesktopDirectory, open_root
from deskhand.desktop.isolation.identity import DesktopIdentity
from deskhand.desktop.isolation.privileges import become, end_with_parent
from deskhand.desktop.isolation.protections import (
    Protections,
    limited,
    none_at_all,
    of_applications,
    reason_of_level,
    separate_users,
    separated,
)
from deskhand.desktop.isolation.user_processes import kill_user_processes
from deskhand.desktop.launch.keeper import KEEPER
from deskhand.desktop.launch.leftovers import alive, clean_leftovers
from deskhand.desktop.launch.limits import DesktopLimits, GivenLimits, desktop_limits
from deskhand.desktop.launch.mount_plan import HIDDEN, USER_FILES, DesktopView
from deskhand.desktop.launch.service_side import Enforcement, Prepared, ServiceSide
from deskhand.desktop.network.network import DesktopNetwork, joined
from deskhand.desktop.profiles import profiles
from deskhand.desktop.settings import DesktopSettings
from deskhand.desktop.x11.connection import connect
from deskhand.vncbridge.auth.credentials import new_token
from deskhand.vncbridge.errors import CannotListen
from deskhand.vncbridge.server.loopback import is_loopback
from deskhand.vncbridge.server.server import Address, listening, parse_address

from .egress_settings import browser_policies, egress_of, show_desktop_policy, with_egress
from .own_display import DesktopService
from .parts import ServiceContext, command_environment
from .preload import preload

NOT_STARTED = 4
OPEN = (
    "it is open to other machines, and the token and screens would cross the network unencrypted; "
    "listen on 127.0.0.1, or give --insecure"
)
API_SOCKET = "run/service/api.sock"
"""The service's socket in the directory of a desktop without a control plane."""
PRIVATE = 0o077
"""File mode creation mask of a desktop with a user of its own."""

OF_GROUP = 0o027
"""That of a service whose files belong to its own group, or where a directory hands its group on,
to that of the agent; and of an agent in whose group the browser's user is."""


def run(settings: DesktopSettings, identity: DesktopIdentity, launch: ServiceSide | None) -> int:
    """Run the service until SIGTERM; return the exit status.

    ``launch`` is given by a keeper of root, which then prepares the desktop and cleans up after it.
    """
    # Extension modules decode and encode here; without it their crash would leave an empty log.
    faulthandler.enable()
    _set_language(settings)
    try:
        if launch is not None:
            return _serve_separated(settings, identity, launch)
        if settings.attach is not None:
            return _attach(settings, identity, settings.attach, os.getppid())
        return _serve(settings, identity, os.getppid())
    except (DesktopError, CannotListen, OSError) as error:
        print(f"deskhand: {error}", file=sys.stderr)  # noqa: T201 - this is a command line
        return NOT_STARTED


def _serve_separated(
    settings: DesktopSettings, identity: DesktopIdentity, launch: ServiceSide
) -> int:
    """Serve a desktop with namespaces, or without them where the kernel refuses."""
    folder, parent = identity.directory, os.getppid()
    with ExitStack() as stack:
        egress, helpers = egress_of(settings), HelperForks(launch.helper_forks)
        stack.callback(helpers.close)
        prepared = launch.prepared()
        bound, address = stack.enter_context(listening(_address(settings, folder)))
        token = _token(settings.token_file)
        # Before any thread is started, for each would stay in the host's network.
        policies, own_mounts = browser_policies(egress), not prepared.refused
        network = stack.enter_context(
            joined(egress, prepared.account, policies, own_mounts, launch)
        )
        limits = _limits(settings)
        # Init does it while this process loads more.
        launch.ask_to_limit(identity, prepared.account, limits)
        preloaded = preload(settings.speak)
        enforcement = launch.limited()
        applications = settings.command_cgroup
        if settings.command_cgroup is None:
            settings = replace(settings, command_cgroup=enforcement.commands)
            applications = enforcement.applications
        account = prepared.account.joining(settings.workdir_group)
        fork_server = helpers.prepare(_helper_start(settings, identity, account, network))
        if own_mounts:
            show_desktop_policy()
            users = BusUsers(str(account.service.uid), str(account.agent.uid))
            write_bus_config(folder.path, users, SESSION_SERVICES, WIDGET_SERVICES)
        requests = stack.enter_context(agent_socket(folder.path, account))
        # Last, because the files of the package may lie where the desktop sees nothing.
        launch.enter_view(_view(settings, identity, limits, account, enforcement.group))
        launch.programs.fix_users(
            {"agent": account.agent, "service": account.service, "browser": account.browser}
        )
        become(account)
        end_with_parent(parent)
        os.chdir(folder.path)
        os.umask(OF_GROUP)
        context = ServiceContext(
            *(settings, folder, account, identity.instance, token, prepared.keeper),
            helpers,
            fork_server=fork_server,
            protections=with_egress(_protections(settings, prepared, enforcement), network),
            limits=limits,
            network=network,
            display=prepared.display,
            host_pid=launch.host_pid,
            agent_socket=requests,
            browser_policy=own_mounts,
            launcher=launch.programs,
            application_cgroup=applications,
        )
        asyncio.run(DesktopService(context, preloaded).run(bound, address))
    return 0


def _claim_profile(
    stack: ExitStack, profile: Path, folder: DesktopDirectory, account: Account
) -> None:
    """Show a named profile in the directory of a desktop without mounts of its own."""
    user = account.browser
    owner = (user.uid, user.gid) if os.geteuid() == 0 else None
    stack.callback(os.close, profiles.claim(profile, folder.path, owner, mounted=False))
    stack.callback(profiles.close, profile)
    profiles.link(profile, folder.path)


def _protections(
    settings: DesktopSettings, prepared: Prepared, enforcement: Enforcement
) -> Protections:
    refused = prepared.refused
    return Protections(
        (
            *(separated(refused), limited(enforcement.refused), separate_users(refused)),
            *of_applications(glx=settings.glx, refused=refused, ungrouped=enforcement.ungrouped),
        )
    )


def _limits(settings: DesktopSettings) -> DesktopLimits:
    sizes = settings.desktop_processes, settings.desktop_memory_mib, settings.desktop_tmp_mib
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return desktop_limits(machine, GivenLimits(*sizes, settings.desktop_cpu_weight))


def _view(
    settings: DesktopSettings,
    identity: DesktopIdentity,
    limits: DesktopLimits,
    account: Account,
    group: Path | None,
) -> DesktopView:
    more = [name for name in os.environ.get(HIDDEN, "").split(os.pathsep) if name]
    named = (settings.workdir, *settings.file_roots, settings.command_cgroup, group)
    folder = os.path.realpath(identity.directory.path)
    return DesktopView(
        folder=folder,
        hidden=tuple(os.path.realpath(path) for path in (str(identity.root), *more)),
        writable=tuple(os.path.realpath(path) for path in named if path is not None),
        temporary_bytes=limits.temporary_bytes,
        profile="" if settings.profile is None else str(settings.profile / profiles.FILES),
        x_group=account.service.gid,
        files=(
            *((f"{folder}/{name}", path) for name, path in USER_FILES),
            *((f"{folder}/{WIDGET_BUS}", str(path)) for path in widget_bus_configs()),
        ),
    )


def _serve(settings: DesktopSettings, identity: DesktopIdentity, parent: int) -> int:
    """Serve a desktop that shares what its user has."""
    folder, root, numbers = identity.directory, identity.root, identity.numbers
    with ExitStack() as stack:
        stack.callback(os.close, open_root(root))
        clean_leftovers(root, numbers, identity.uid_base)
        stack.enter_context(alive(root, identity.instance, folder))
        claim = claimed(settings.user, USER_LOCKS, numbers, identity.uid_base)
        account = stack.enter_context(claim).joining(settings.workdir_group)
        folder.make(account)
        stack.callback(folder.clear, keep_calls=not folder.is_in(root))
        if settings.profile is not None:
            _claim_profile(stack, settings.profile, folder, account)
        if account.numbered:
            # The users are this desktop's alone: a process of one is left from an earlier desktop,
            # and could read this one's memory.
            kill_user_processes(*account.uids)
            stack.callback(kill_user_processes, *account.uids)
        # Before `become`: the socket's directory, a port below 1024 and the token's file may need
        # the rights of the user who starts the service.
        bound, address = stack.enter_context(listening(_address(settings, folder)))
        token = _token(settings.token_file)
        network = stack.enter_context(joined(egress_of(settings), account))
        # The desktop's user may be unable to read the checkout, so that after `become` no file of
        # the package can be read.
        helpers: StartHelper = HelperLaunch(_helper_start(settings, identity, account, network))
        fork_server: int | None = None
        if account.dropped:
            # After `become` this process has neither the rights to start a helper as another user,
            # nor perhaps those to read the package.
            helpers = forks = stack.enter_context(own_forks())
            fork_server = forks.prepare(_helper_start(settings, identity, account, network))
        preloaded = preload(settings.speak)
        requests = stack.enter_context(_dialect_socket(settings, folder, account))
        become(account)
        end_with_parent(parent)
        os.chdir(folder.path)
        os.umask(PRIVATE)
        context = ServiceContext(
            *(settings, folder, account, identity.instance, token, _signalled(parent)),
            helpers,
            with_egress(none_at_all(reason_of_level(account.level, attached=False)), network),
            network=network,
            agent_socket=requests,
            fork_server=fork_server,
        )
        asyncio.run(DesktopService(context, preloaded).run(bound, address))
    return 0


def _attach(settings: DesktopSettings, identity: DesktopIdentity, display: str, parent: int) -> int:
    """Serve a screen that exists already, with the rights and the session of the caller."""
    folder, root = identity.directory, identity.root
    with ExitStack() as stack:
        stack.callback(os.close, open_root(root))
        clean_leftovers(root, identity.numbers, identity.uid_base)
        stack.enter_context(alive(root, identity.instance, folder))
        own = pwd.getpwuid(os.geteuid()).pw_name
        account = stack.enter_context(claimed(own, USER_LOCKS))
        network = stack.enter_context(joined(egress_of(settings), account))
        folder.make(account)
        stack.callback(folder.clear, keep_calls=not folder.is_in(root))
        bound, address = stack.enter_context(listening(_address(settings, folder)))
        token = _token(settings.token_file)
        end_with_parent(parent)
        if display:
            os.environ["DISPLAY"] = display
        # PyAutoGUI cannot be imported without this file, even where no cookie is needed.
        authority = Path(os.environ.get("XAUTHORITY") or Path.home() / ".Xauthority")
        if not authority.exists():
            authority = folder.path / "Xauthority"
            authority.touch(0o600)
        os.environ["XAUTHORITY"] = str(authority)
        # A missing display or a refused cookie raises `DisplayGone` here, which `run` reports. The
        # import of PyAutoGUI would fail with an exception of its own.
        connect(os.environ.get("DISPLAY", ""), authority).disconnect()
        # PyAutoGUI connects to its display while it is imported, and prints to standard output,
        # which is for the ready line alone.
        with redirect_stdout(sys.stderr):
            module = importlib.import_module("deskhand.desktop.service.attached_screen")
        context = ServiceContext(
            *(settings, folder, account, identity.instance, token, _signalled(parent)),
            HelperLaunch(_helper_start(settings, identity, account, network)),
            with_egress(none_at_all(reason_of_level(account.level, attached=True)), network),
            network=network,
            agent_socket=stack.enter_context(_dialect_socket(settings, folder, account)),
        )
        asyncio.run(module.AttachedScreen(context).run(bound, address))
    return 0


def _dialect_socket(
    settings: DesktopSettings, folder: DesktopDirectory, account: Account
) -> AbstractContextManager[socket | None]:
    """Return the socket of a desktop whose commands need none but for the module pyautogui."""
    return agent_socket(folder.path, account) if settings.speaks_osworld else nullcontext()


def _helper_start(
    settings: DesktopSettings,
    identity: DesktopIdentity,
    account: Account,
    network: DesktopNetwork,
) -> HelperStart:
    environment = command_environment(
        *(settings, identity.directory.path, account, identity.instance)
    )
    return HelperStart(
        {**network.environment, **environment},
        tuple(map(str, settings.file_roots)),
        user=(account.agent.uid, account.agent.gid) if account.dropped else None,
        umask=None if settings.attach is not None else OF_GROUP if account.separated else PRIVATE,
        groups=account.agent.groups,
        pictures=_picture_library() if settings.speaks_osworld else "",
        service=(account.service.uid, account.service.gid) if account.dropped else None,
    )


def _picture_library() -> str:
    """Return the folder of the library that decodes pictures, without loading it."""
    found = find_spec("PIL")
    return "" if found is None or found.origin is None else str(Path(found.origin).parents[1])


def _signalled(parent: int) -> int:
    """Return the process to signal for the end of the service: its keeper, or itself."""
    return parent if os.environ.get(KEEPER) == str(parent) else os.getpid()


def _set_language(settings: DesktopSettings) -> None:
    """Set time zone and language in the environment, from which children inherit them."""
    if settings.timezone:
        os.environ["TZ"] = settings.timezone
    if settings.locale:
        # LC_ALL would override LANG and LC_CTYPE (setlocale(3)).
        os.environ.pop("LC_ALL", None)
        os.environ["LANG"] = settings.locale
        # Programs with their own translations, such as browsers, use a language that is not
        # installed. The C library would fall back to ASCII, so it gets a locale that exists.
        os.environ["LC_CTYPE"] = settings.locale if _installed(settings.locale) else "C.UTF-8"


def _installed(name: str) -> bool:
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, name)
    except locale.Error:
        return False
    locale.setlocale(locale.LC_CTYPE, before)
    return True


def _address(settings: DesktopSettings, folder: DesktopDirectory) -> Address:
    """Return the address to bind; ``unix:`` alone is a socket out of the agent's reach.

    Raises:
        CannotListen: If other machines would reach it, and that was not requested explicitly.
    """
    if settings.listen == "unix:":
        return Address(path=folder.path.absolute() / API_SOCKET)
    wanted = parse_address(settings.listen)
    if wanted.host and not is_loopback(wanted.host) and not settings.insecure:
        raise CannotListen(settings.listen, OPEN)
    return wanted


def _token(file: Path | None) -> str:
    if file is None:
        return new_token()
    token = file.read_text().strip()
    if not token:
        raise OSError(f"{file} holds no token")
    return token
