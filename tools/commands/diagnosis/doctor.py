"""`deskhand doctor`: checks what Deskhand needs on this machine."""

import asyncio
import importlib.util
import os
import shutil
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from deskhand.desktop.browser.launch import prepare
from deskhand.desktop.browser.policy import BrowserLaunch
from deskhand.desktop.isolation.environment import SYSTEM_PATH
from deskhand.desktop.isolation.protections import (
    Protections,
    limited,
    none_at_all,
    of_applications,
    reason_of_level,
    separate_users,
    separated,
)
from deskhand.desktop.launch.desktop_group import DesktopGroup
from deskhand.desktop.launch.probe import namespaces_refused
from deskhand.desktop.network.programs import missing
from deskhand.desktop.settings import SANDBOX_MODES, SandboxMode
from deskhand.recording.disk.meter import space_of
from deskhand.recording.free_space import GIB, MIB, DiskSpace
from deskhand.tools.agents.providers.environment.hosts import HostAnswer, ask_hosts
from deskhand.tools.agents.providers.provider_table import accounts_in, key_variables
from deskhand.tools.commands.control_plane import find_address
from deskhand.tools.commands.rights import user_to_become
from deskhand.tools.commands.terminal import (
    BadDataDir,
    check_data_dir,
    print_error,
    print_json,
    print_line,
)
from deskhand.tools.commands.terminal import settings as read_settings
from deskhand.tools.control_plane.permissions import open_to_others
from deskhand.tools.control_plane.settings import (
    BadSetting,
    Settings,
    egress_policy,
    settings_in_force,
)
from deskhand.tools.decoder.decoder import Decoder
from deskhand.tools.secrets.keys import keys_of
from deskhand.tools.store.backends.postgresql import server_version

from .cluster_checks import cluster_findings
from .finding import Finding
from .machine import (
    address_finding,
    clock_finding,
    shared_memory_finding,
    usage_finding,
)
from .measures import (
    SHARED_MEMORY,
    is_free,
    names_at,
    newest_change,
    total_space,
    usage,
)
from .repair import install, packages
from .separation import (
    access_findings,
    decoder_findings,
    egress_finding,
    isolation_finding,
    option_findings,
    protection_findings,
    rights_findings,
    secrets_finding,
)
from .software import browser_findings, font_findings, library_findings, program_findings
from .trials import (
    browser_finding,
    database_finding,
    encode_second,
    encoder_finding,
    x_server_finding,
)
from .updates import browser_age, unpatched_packages

NOBODY = 65534
"""Number of the user nobody, which has no rights."""
Group = tuple[str, Iterator[Finding]]


def main(as_json: bool, data_dir: Path | None, installs: bool = False) -> int:
    """Print the findings in groups; return 1 if a requirement is missing.

    With ``installs`` the packages that are missing are installed first.
    """
    try:
        settings = read_settings({"data_dir": data_dir})
    except BadSetting as error:
        print_error(str(error))
        return 2
    if installs:
        names = packages(_installable(settings))
        print_error(f"installing {', '.join(names)}" if names else "no package is missing")
        problem = install(names) if names else ""
        if problem:
            print_error(problem)
            return 1
    found = [(title, list(findings)) for title, findings in _examine(settings)]
    healthy = all(one.status != "fail" for _, findings in found for one in findings)
    if as_json:
        listed = [{**asdict(one), "group": title} for title, several in found for one in several]
        in_force = {one.name: one.value for one in settings_in_force(settings)}
        print_json({"healthy": healthy, "findings": listed, "settings": in_force})
        return 0 if healthy else 1
    for title, findings in found:
        print_line(f"{title}:")
        for finding in findings:
            remedy = f"  -> {finding.remedy}" if finding.remedy else ""
            print_line(f"{finding.status:>4}  {finding.name}: {finding.detail}{remedy}")
    print_line("Settings:")
    for setting in settings_in_force(settings):
        print_line(f"      {setting.name} = {setting.value}")
    return 0 if healthy else 1


def _examine(settings: Settings) -> Iterator[Group]:
    launch = _launch(settings)
    yield "Machine", _machine(settings)
    yield "Browser", _browser(launch, settings.browser)
    yield "Control plane", _control_plane(settings)
    yield "Model", _model()
    yield "Store", _store(settings)
    if settings.certificates or settings.cluster:
        yield "Cluster", cluster_findings(settings)


def _installable(settings: Settings) -> Iterator[Finding]:
    yield from program_findings(shutil.which)
    yield from browser_findings(_launch(settings), settings.browser)
    yield from _fonts()
    yield _egress(settings)


def _machine(settings: Settings) -> Iterator[Finding]:
    yield from program_findings(shutil.which)
    server = shutil.which("Xvnc")
    if server is not None:
        yield x_server_finding(server)
    yield from _fonts()
    yield from library_findings(lambda name: importlib.util.find_spec(name) is not None)
    yield from unpatched_packages()
    yield encoder_finding(encode_second)
    yield shared_memory_finding(total_space(SHARED_MEMORY))
    yield clock_finding(time.time(), newest_change(settings.data_dir))
    yield isolation_finding(os.geteuid() == 0)
    yield from _protections()
    yield from _decoder()
    yield _egress(settings)


def _control_plane(settings: Settings) -> Iterator[Finding]:
    keys = keys_of(settings.data_dir, os.environ)
    yield from rights_findings(user_to_become(settings, keys))
    yield dialects_finding(settings.speak)
    yield _port(settings)


def _model() -> Iterator[Finding]:
    accounts = accounts_in(os.environ)
    yield key_finding([account.variable for account in accounts.values()])
    yield from host_findings(ask_hosts(accounts))


def _store(settings: Settings) -> Iterator[Finding]:
    yield data_finding(settings.data_dir)
    yield from access_findings(open_to_others(settings.data_dir))
    yield usage_finding(usage(settings.data_dir))
    if settings.database:
        yield database_finding(lambda: asyncio.run(server_version(settings.database)))
    yield secrets_finding(keys_of(settings.data_dir, os.environ).existing())


def browser_problem() -> str | None:
    """Return why no browser of this machine can run on a desktop; None if one can.

    ``deploy/bootstrap`` ends with it.

    Raises:
        BadSetting: If a setting is invalid.
    """
    found = _launch(read_settings({}))
    return f"deskhand: {found.refusal}" if found.program is None else None


def _launch(settings: Settings) -> BrowserLaunch:
    mode: dict[str, SandboxMode] = {one: one for one in SANDBOX_MODES}
    # Root's desktops work as unprivileged users, for whom the sandbox may work.
    uid = NOBODY if os.geteuid() == 0 else None
    return prepare(settings.browser, mode[settings.browser_sandbox], {"PATH": SYSTEM_PATH}, uid=uid)


def _fonts() -> Iterator[Finding]:
    listing = shutil.which("fc-list")
    known = ""
    if listing is not None:
        known = subprocess.run([listing], capture_output=True, text=True, check=False).stdout
    return font_findings(known)


def _browser(found: BrowserLaunch, wanted: str) -> Iterator[Finding]:
    yield from browser_findings(found, wanted)
    if found.program is not None:
        yield browser_finding(found.program)
        yield from browser_age(found.program)


def _protections() -> Iterator[Finding]:
    if os.geteuid() != 0:
        found = none_at_all(reason_of_level("shared", attached=False))
    else:
        refused = namespaces_refused()
        found = Protections(
            (
                *(separated(refused), limited(DesktopGroup("doctor").lacking())),
                separate_users(refused),
                *of_applications(
                    glx=False,
                    refused=refused,
                    ungrouped=DesktopGroup("doctor", controllers=()).lacking(),
                ),
            )
        )
    yield from protection_findings(found.entries)
    if os.geteuid() == 0:
        yield from option_findings()


def _decoder() -> Iterator[Finding]:
    with Decoder() as decoder:
        yield from decoder_findings(decoder.refusal)


def _egress(settings: Settings) -> Finding:
    root = os.geteuid() == 0
    return egress_finding(egress_policy(settings, root=root).base, root=root, missing=missing)


def dialects_finding(speak: tuple[str, ...]) -> Finding:
    """Return which protocols of other products new desktops speak."""
    return Finding("dialects", "ok", f"{', '.join(speak) or 'none'} on new desktops")


def data_finding(folder: Path) -> Finding:
    """Return the finding about the data directory and the space of its disk."""
    try:
        check_data_dir(folder)
    except BadDataDir as error:
        return Finding("data directory", "fail", f"{error.path}: {error.reason}",
                       "give another with --data-dir")  # fmt: skip
    return room_finding(folder, space_of(folder))


def room_finding(folder: Path, space: DiskSpace) -> Finding:
    """Return the finding about the space of the disk that holds a data directory."""
    detail = f"{folder}, {space.free / GIB:.1f} GiB free"
    if space.low:
        needed = f"{round(space.needed / MIB)} MiB"
        remedy = f"below {needed} no recording starts, and uploads and writes are refused"
        return Finding("data directory", "warn", detail, remedy)
    return Finding("data directory", "ok", detail)


def _port(settings: Settings) -> Finding:
    host, _, port = settings.listen.rpartition(":")
    # The environment may name a control plane of another machine, which is not meant here.
    own = find_address(settings, None, {})
    if own is not None or settings.listen.startswith("unix:") or not port.isdigit():
        return address_finding(settings.listen, True, own)
    free = is_free(host.strip("[]"), int(port))
    answers = () if free else names_at(f"http://{settings.listen}/healthz")
    return address_finding(settings.listen, free, None, answers)


def host_findings(answers: Iterable[HostAnswer]) -> Iterator[Finding]:
    """Yield a finding for each host of a provider whose key is set."""
    for answer in answers:
        if answer.problem is None:
            yield Finding("model host", "ok", f"{answer.host} answers")
        else:
            text = f"{answer.host} does not answer: {answer.problem}"
            yield Finding("model host", "warn", text, "check the network or HTTPS_PROXY")


def key_finding(variables: Collection[str]) -> Finding:
    """Return the finding about keys of models; ``variables`` names those that are set."""
    if variables:
        return Finding("model", "ok", f"set: {', '.join(variables)}")
    return Finding("model", "warn", "no key: scripted models play", f"set {key_variables()}")
