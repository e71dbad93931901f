"""`deskhand doctor`: checks what Deskhand needs on this machine."""

import importlib.util
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Literal

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
from deskhand.tools.agents.providers.environment.hosts import ask_hosts
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
from deskhand.tools.control_plane.process_user import ProcessUser, StaysRoot
from deskhand.tools.control_plane.settings import BadSetting, Settings, egress_policy
from deskhand.tools.decoder.decoder import Decoder
from deskhand.tools.secrets.keys import CREDENTIAL, FILE, StoreKeys, keys_of

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
from .trials import browser_finding, encode_second, encoder_finding, x_server_finding
from .updates import browser_age, unpatched_packages

PROGRAMS = {
    "Xvnc": ("tigervnc-standalone-server", "fail"),
    "openbox": ("openbox", "fail"),
    "setpriv": ("util-linux", "fail"),
    "dbus-daemon": ("dbus", "fail"),
    "xterm": ("xterm", "warn"),
    "tint2": ("tint2", "warn"),
    "hsetroot": ("hsetroot", "warn"),
}
FONTS = {"DejaVu": "fonts-dejavu-core", "WenQuanYi": "fonts-wqy-zenhei",
         "Noto Color Emoji": "fonts-noto-color-emoji"}  # fmt: skip
NOBODY = 65534
"""Number of the user nobody, which has no rights."""
LIBRARIES = ("av", "numpy", "PIL", "xcffib", "anthropic", "sqlalchemy", "websockets")


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
        names = packages((*_programs(), *_browser(_launch(settings)), *_fonts()))
        print_error(f"installing {', '.join(names)}" if names else "no package is missing")
        problem = install(names) if names else ""
        if problem:
            print_error(problem)
            return 1
    found = [(title, list(findings)) for title, findings in _examine(settings)]
    healthy = all(one.status != "fail" for _, findings in found for one in findings)
    if as_json:
        listed = [{**asdict(one), "group": title} for title, several in found for one in several]
        print_json({"healthy": healthy, "findings": listed,
                  "settings": {k: str(v) for k, v in asdict(settings).items()}})  # fmt: skip
        return 0 if healthy else 1
    for title, findings in found:
        print_line(f"{title}:")
        for finding in findings:
            remedy = f"  -> {finding.remedy}" if finding.remedy else ""
            print_line(f"{finding.status:>4}  {finding.name}: {finding.detail}{remedy}")
    print_line("Settings:")
    for name, value in asdict(settings).items():
        print_line(f"      {name} = {value}")
    return 0 if healthy else 1


def _examine(settings: Settings) -> Iterator[Group]:
    launch = _launch(settings)
    yield "Machine", _machine(settings)
    yield "Browser", _browser(launch)
    yield "Control plane", _control_plane(settings)
    yield "Model", _model()
    yield "Store", _store(settings)


def _machine(settings: Settings) -> Iterator[Finding]:
    yield from _programs()
    server = shutil.which("Xvnc")
    if server is not None:
        yield x_server_finding(server)
    yield from _fonts()
    yield from _libraries()
    yield from unpatched_packages()
    yield encoder_finding(encode_second)
    yield shared_memory_finding(total_space(SHARED_MEMORY))
    yield clock_finding(time.time(), newest_change(settings.data_dir))
    yield _isolation()
    yield from _protections()
    yield from _decoder()
    yield from _egress(settings)


def _control_plane(settings: Settings) -> Iterator[Finding]:
    keys = keys_of(settings.data_dir, os.environ)
    yield from rights_finding(user_to_become(settings, keys))
    yield dialects_finding(settings.speak)
    yield _port(settings)


def _model() -> Iterator[Finding]:
    yield _key()
    yield from _hosts()


def _store(settings: Settings) -> Iterator[Finding]:
    yield _data(settings)
    yield from _access(settings)
    yield usage_finding(usage(settings.data_dir))
    yield secrets_finding(keys_of(settings.data_dir, os.environ))


def _programs() -> Iterator[Finding]:
    for name, (package, severity) in PROGRAMS.items():
        found = shutil.which(name)
        if found is not None:
            yield Finding(name, "ok", found)
        elif severity == "fail":
            yield Finding(name, "fail", "not installed", f"apt-get install {package}")
        else:
            yield Finding(name, "warn", "not installed", f"apt-get install {package}")


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


def _browser(found: BrowserLaunch) -> Iterator[Finding]:
    if found.program is None:
        yield Finding("browser", "warn", found.refusal)
        return
    yield Finding("browser", "ok", found.program)
    yield browser_finding(found.program)
    yield from browser_age(found.program)
    if found.refusal:
        yield Finding("browser sandbox", "fail", found.refusal,
                      "allow user namespaces, or set browser_sandbox to auto")  # fmt: skip
    elif not found.sandboxed:
        yield Finding("browser sandbox", "warn", f"off: {found.reason}",
                      "" if found.setting == "off" else "allow user namespaces")  # fmt: skip
    else:
        yield Finding("browser sandbox", "ok", "works")


def _fonts() -> Iterator[Finding]:
    listing = shutil.which("fc-list")
    known = ""
    if listing is not None:
        known = subprocess.run([listing], capture_output=True, text=True, check=False).stdout
    for name, package in FONTS.items():
        if name in known:
            yield Finding(f"font {name}", "ok", "installed")
        else:
            yield Finding(f"font {name}", "warn", "not found", f"apt-get install {package}")


def _libraries() -> Iterator[Finding]:
    for name in LIBRARIES:
        # ``find_spec`` only looks a module up: importing all of them would take seconds.
        if importlib.util.find_spec(name) is None:
            yield Finding(f"library {name}", "fail", "not installed", "run make setup")
    if importlib.util.find_spec("isal") is None:
        yield Finding("library isal", "warn", "pictures are packed more slowly", "pip install isal")


def _isolation() -> Finding:
    if os.geteuid() == 0:
        return Finding("isolation", "ok", "user: each desktop works as a user of its own")
    return Finding(
        "isolation",
        "warn",
        "shared: agents run as you and can do what you can",
        "start Deskhand as root, so that desktops get users of their own",
    )


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
    for one in found.entries:
        because = f", because {one.reason}" if one.reason else ""
        status: Literal["ok", "warn"] = "warn" if one.reason else "ok"
        yield Finding(f"protection {one.name}", status, f"{one.state}{because}")


def _decoder() -> Iterator[Finding]:
    with Decoder() as decoder:
        if decoder.refusal:
            detail = f"has no namespaces, only limits and a user of its own: {decoder.refusal}"
            yield Finding("decoder", "warn", detail, "allow namespaces")


def _access(settings: Settings) -> Iterator[Finding]:
    for found in open_to_others(settings.data_dir):
        detail = f"{found.path}: other users can access it (mode {found.mode:04o})"
        yield Finding("data directory access", "warn", detail, "the next start closes it")


def _egress(settings: Settings) -> Iterator[Finding]:
    policy = egress_policy(settings, root=os.geteuid() == 0)
    for egress in dict.fromkeys((policy.base, policy.spawned)):
        lacking = missing(egress.mode)
        if egress.mode != "open" and os.geteuid() != 0:
            lacking = "only root can make a network namespace"
        if not lacking:
            detail = egress.mode if egress.required else f"{egress.mode}, for spawned agents"
            yield Finding("egress", "ok", detail)
        elif egress.required:
            yield Finding("egress", "fail", f"{egress.mode} cannot be enforced: {lacking}",
                          "install what is missing, or set egress to open")  # fmt: skip
        else:
            yield Finding("egress", "warn", f"open, because {lacking}",
                          "install what is missing, and spawned agents get internet")  # fmt: skip


def dialects_finding(speak: tuple[str, ...]) -> Finding:
    """Return which protocols of other products new desktops speak."""
    return Finding("dialects", "ok", f"{', '.join(speak) or 'none'} on new desktops")


def _data(settings: Settings) -> Finding:
    try:
        check_data_dir(settings.data_dir)
    except BadDataDir as error:
        return Finding("data directory", "fail", f"{error.path}: {error.reason}",
                       "give another with --data-dir")  # fmt: skip
    return room_finding(settings.data_dir, space_of(settings.data_dir))


def room_finding(folder: Path, space: DiskSpace) -> Finding:
    """Return the finding about the space of the disk that holds a data directory."""
    detail = f"{folder}, {space.free / GIB:.1f} GiB free"
    if space.low:
        needed = f"{round(space.needed / MIB)} MiB"
        remedy = f"below {needed} no recording starts, and uploads and writes are refused"
        return Finding("data directory", "warn", detail, remedy)
    return Finding("data directory", "ok", detail)


def rights_finding(user: ProcessUser | StaysRoot | None) -> Iterator[Finding]:
    """Yield the finding about the user that the control plane of root becomes."""
    if isinstance(user, StaysRoot):
        yield Finding("control plane user", "warn", f"root, because {user.because}", user.remedy)
    elif user is not None:
        yield Finding("control plane user", "ok", user.name)


def secrets_finding(keys: StoreKeys) -> Finding:
    """Return where the key of the secret store is."""
    key = keys.existing()
    if key is None:
        return Finding("secrets", "ok", "none is stored yet")
    if key.source != FILE:
        return Finding("secrets", "ok", f"encrypted with the key of the {key.source}")
    return Finding(
        "secrets",
        "warn",
        "encrypted with a key in a file beside them (secrets.key, mode 0600)",
        f"pass a key as the systemd credential {CREDENTIAL} (LoadCredentialEncrypted=)",
    )


def _port(settings: Settings) -> Finding:
    host, _, port = settings.listen.rpartition(":")
    # The environment may name a control plane of another machine, which is not meant here.
    own = find_address(settings, None, {})
    if own is not None or settings.listen.startswith("unix:") or not port.isdigit():
        return address_finding(settings.listen, True, own)
    free = is_free(host.strip("[]"), int(port))
    answers = () if free else names_at(f"http://{settings.listen}/healthz")
    return address_finding(settings.listen, free, None, answers)


def _hosts() -> Iterator[Finding]:
    for answer in ask_hosts(accounts_in(os.environ)):
        if answer.problem is None:
            yield Finding("model host", "ok", f"{answer.host} answers")
        else:
            text = f"{answer.host} does not answer: {answer.problem}"
            yield Finding("model host", "warn", text, "check the network or HTTPS_PROXY")


def _key() -> Finding:
    variables = [account.variable for account in accounts_in(os.environ).values()]
    if variables:
        return Finding("model", "ok", f"set: {', '.join(variables)}")
    return Finding("model", "warn", "no key: scripted models play", f"set {key_variables()}")
