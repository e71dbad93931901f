"""Settings of one desktop service, read from its command line."""

import argparse
import re
import zoneinfo
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from .geometry import Size
from .uid_base import DEFAULT_UID_BASE, uid_base_problem

Program = Literal["Xvnc", "Xvfb"]
DisplayStart = Literal["at-start", "on-request"]
SandboxMode = Literal["auto", "required", "off"]
SANDBOX_MODES: tuple[SandboxMode, ...] = get_args(SandboxMode)
EGRESS_MODES = ("open", "internet", "list", "none")
DIALECTS = ("osworld", "osworld:lan", "cdp")
"""OSWorld's downloads reach private addresses with ``osworld:lan`` only."""
_REMOVED = {
    "cua": "was removed, as cua-sandbox 0.9 left that protocol; use osworld, or MCP at /mcp",
}
"""Dialects of earlier versions."""
_LISTS = (
    *("allowed_hosts", "allowed_origins", "inherit_env", "environment", "file_roots"),
    *("egress_allow", "egress_grants"),
)
DEFAULT_SIZE = Size(1920, 1080)
LARGEST_SIDE = 7680
"""Width of 8K UHD in pixels."""
CPU_WEIGHTS = range(1, 10_001)
"""Values that the kernel accepts (cgroup-v2.rst, cpu.weight)."""


@dataclass(frozen=True, kw_only=True)
class DesktopSettings:
    """All settings; ``deskhand desktop --help`` describes them."""

    listen: str = "127.0.0.1:0"
    token_file: Path | None = None
    as_json: bool = False
    folder: Path | None = None
    user: str | None = None
    uid_base: int = DEFAULT_UID_BASE
    """Base of the ids of the users that root's desktops have of their own."""
    size: Size = DEFAULT_SIZE
    xserver: Program = "Xvnc"
    """``Xvfb`` has no live view."""
    display: DisplayStart = "at-start"
    """``on-request`` starts X server and session by a request, which follows their first use."""
    glx: bool = False
    """Enables the GLX extension, which costs the X server memory and start-up time."""
    layout: str = ""
    """XKB layout, such as ``de`` or ``us(intl)``; empty for the X server's default."""
    timezone: str = ""
    """TZ identifier, such as ``Europe/Berlin``; empty for the service's own."""
    locale: str = ""
    """Such as ``de_DE.UTF-8``; empty for the service's own."""
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    """Origins, besides its own, of pages that may call the service."""
    inherit_env: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    """Variables of commands and applications."""
    workdir: Path | None = None
    workdir_group: int | None = None
    """Group by which desktops of several users share ``workdir``."""
    command_nice: int = 0
    command_memory_mib: int | None = None
    command_cpus: float | None = None
    command_cgroup: Path | None = None
    """Delegated control group (v2) instead of the service's own, in which the limits bind a
    command as a whole."""
    desktop_processes: int | None = None
    """Processes of a whole desktop of root; None for the default, as for the next three."""
    desktop_memory_mib: int | None = None
    desktop_tmp_mib: int | None = None
    desktop_cpu_weight: int | None = None
    file_roots: tuple[Path, ...] = ()
    """Trees that the file routes are confined to; commands are not."""
    browser: str = ""
    """Name or path of the browser; empty for the first one that is installed."""
    profile: Path | None = None
    """Directory of a named profile of the browser, which outlives the desktop."""
    browser_sandbox: SandboxMode = "auto"
    egress: str = "open"
    """What commands, applications and pages may reach: ``open``, ``internet``, ``list``,
    ``none``."""
    egress_allow: tuple[str, ...] = ()
    egress_grants: tuple[str, ...] = ()
    egress_optional: bool = False
    speak: tuple[str, ...] = ()
    """Dialects that are on: protocols of others that the service speaks too."""
    trust_mcp_servers: bool = False
    """Starts the servers of ``.mcp.json`` without a person's approval."""
    attach: str | None = None
    """Existing screen to serve, such as ``:0``; empty for that of the service's own session."""
    insecure: bool = False
    """Other machines may reach the service, which has no TLS."""
    linger: float | None = None
    """Idle timeout: seconds without a call after which the service ends."""
    until_input_ends: bool = False
    """The service ends at the end of its standard input, which the program that started it holds
    open."""

    @property
    def speaks_osworld(self) -> bool:
        """True if OSWorld's dialect is on."""
        return not {"osworld", "osworld:lan"}.isdisjoint(self.speak)

    @property
    def command_memory_bytes(self) -> int | None:
        """Memory limit of a command in bytes; None for no limit."""
        mib = self.command_memory_mib
        return None if mib is None else mib * 1024 * 1024


def parse(arguments: Sequence[str]) -> DesktopSettings:
    """Parse the command line; argparse exits with status 2 on a mistake."""
    parser = _parser()
    found = vars(parser.parse_args(arguments))
    # All of them configure what the service starts itself.
    own_only = {name: found.get(name) for name in ("layout", "glx", "browser", "profile")}
    own_only["xserver"] = found["xserver"] != "Xvnc"
    own_only["display"] = found["display"] != "at-start"
    chosen = [name for name, given in own_only.items() if given]
    if chosen and found["attach"] is not None:
        parser.error(f"--{chosen[0]} is for a display of our own, not for one to --attach to")
    if found["until_input_ends"] and found["token_file"] == Path("/dev/stdin"):
        parser.error("--until-input-ends: the input ends after the token of --token-file")
    for name in _LISTS:
        found[name] = tuple(found[name])
    return DesktopSettings(**found)


@cache
def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="deskhand desktop", description="Serve one desktop: display, tools, recordings."
    )
    parser.add_argument("--listen", default="127.0.0.1:0", metavar="WHERE", help="HOST:PORT "
                        "(port 0: any free), unix:PATH, unix: for a socket in its own "
                        "directory, or fd:N (default: %(default)s)")  # fmt: skip
    parser.add_argument("--insecure", action="store_true", help="listen for other machines, "
                        "though the service has no TLS")  # fmt: skip
    parser.add_argument("--token-file", type=Path, help="file with the access token to use")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON line")
    parser.add_argument("--folder", type=Path, help="private folder for sockets, logs, recordings")
    _add_user_options(parser)
    _add_display_options(parser)
    _add_language_options(parser)
    parser.add_argument("--allow-host", action="append", default=[], dest="allowed_hosts",
                        metavar="NAME", help="accept this Host besides loopback")  # fmt: skip
    parser.add_argument("--allow-origin", action="append", default=[], dest="allowed_origins",
                        metavar="ORIGIN", type=_origin, help="let pages of this origin, as "
                        "https://example.com, call the service (may be given again)")  # fmt: skip
    parser.add_argument("--inherit-env", action="append", default=[], metavar="NAME",
                        help="pass this variable on to commands")  # fmt: skip
    parser.add_argument("--env", action="append", default=[], dest="environment", type=_pair,
                        metavar="NAME=VALUE", help="set this variable for commands "
                        "and applications; no place for secrets")  # fmt: skip
    parser.add_argument("--workdir", type=Path, help="directory of commands that name none")
    parser.add_argument("--workdir-group", type=_count, metavar="GID",
                        help="group that the desktop's user joins for it (root only)")  # fmt: skip
    parser.add_argument("--command-nice", type=int, default=0, choices=range(20), metavar="0-19",
                        help="niceness of commands")  # fmt: skip
    parser.add_argument("--command-memory", type=int, dest="command_memory_mib", metavar="MIB",
                        help="memory of all of a command where there is a control group "
                        "for it, else of each process")  # fmt: skip
    parser.add_argument("--command-cpus", type=float, metavar="N",
                        help="processors a command may use; needs a control group")  # fmt: skip
    parser.add_argument("--command-cgroup", type=Path, metavar="DIR",
                        help="control group (v2) delegated to the desktop's user "
                        "(default: the service's own, where it is writable)")  # fmt: skip
    _add_desktop_limits(parser)
    parser.add_argument("--file-root", action="append", default=[], dest="file_roots", type=Path,
                        metavar="DIR", help="let the file routes work in this tree only "
                        "(may be given again; commands are not bound by it)")  # fmt: skip
    _add_browser_and_egress_options(parser)
    parser.add_argument("--speak", type=_dialects, default=(), metavar="NAMES",
                        help="protocols of others to serve under /api/v0/desktop/as/: "
                        "osworld, cdp, divided by commas; their clients may run code as "
                        "the agent's user (default: none)")  # fmt: skip
    parser.add_argument("--trust-mcp-servers", action="store_true",
                        help="start the servers of .mcp.json without an approval")  # fmt: skip
    parser.add_argument("--attach", nargs="?", const="", metavar=":N",
                        help="serve a screen that exists already instead of a new one")  # fmt: skip
    parser.add_argument("--linger", type=float, metavar="SECONDS",
                        help="end after this long without a call")  # fmt: skip
    parser.add_argument("--until-input-ends", action="store_true",
                        help="end when the standard input, a pipe, ends: with the program that "
                        "started this")  # fmt: skip
    return parser


def _add_language_options(parser: argparse.ArgumentParser) -> None:
    # SUPPRESS leaves an absent option out of the result, so that its default stands in one place
    # only, `DesktopSettings`.
    parser.add_argument("--layout", type=_layout, metavar="NAME",
                        default=argparse.SUPPRESS,
                        help="layout of the keyboard, as de or us(intl)")  # fmt: skip
    parser.add_argument("--timezone", type=_timezone, metavar="NAME",
                        default=argparse.SUPPRESS,
                        help="time zone of what runs there, as Europe/Berlin")  # fmt: skip
    parser.add_argument("--locale", type=_locale, metavar="NAME",
                        default=argparse.SUPPRESS,
                        help="language of what runs there, as de_DE")  # fmt: skip


def _add_user_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--user", help="user to work as (root only; default: one of our own)")
    parser.add_argument("--uid-base", type=_uid_base, default=DEFAULT_UID_BASE, metavar="UID",
                        help="where the ids of users of our own begin "
                        "(default: %(default)s)")  # fmt: skip


def _add_desktop_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--desktop-processes", type=_count, metavar="N",
                        help="processes of the whole desktop, if root starts it "
                        "(default: 2000)")  # fmt: skip
    parser.add_argument("--desktop-memory", type=_count, dest="desktop_memory_mib", metavar="MIB",
                        help="memory of the whole desktop, if root starts it "
                        "(default: 4096, or half of the machine's)")  # fmt: skip
    parser.add_argument("--desktop-tmp", type=_count, dest="desktop_tmp_mib", metavar="MIB",
                        help="size of the desktop's /tmp, if root starts it "
                        "(default: 1024)")  # fmt: skip
    parser.add_argument("--desktop-cpu-weight", type=_cpu_weight, metavar="1-10000",
                        help="share of the processors beside other desktops; needs a control "
                        "group (default: 100)")  # fmt: skip


def _add_display_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--size", type=_size, default=DEFAULT_SIZE, metavar="WxH",
                        help="size of the display (default: 1920x1080)")  # fmt: skip
    parser.add_argument("--xserver", choices=("Xvnc", "Xvfb"), default="Xvnc",
                        help="program that makes the display; Xvfb has no live view "
                        "(default: %(default)s)")  # fmt: skip
    parser.add_argument("--display", choices=("at-start", "on-request"), default="at-start",
                        help="when the X server and its session start; on-request: by "
                        "POST /api/v0/desktop/display (default: %(default)s)")  # fmt: skip
    parser.add_argument("--glx", action="store_true", help="let applications draw with OpenGL")


def _add_browser_and_egress_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--browser", default="", metavar="PROGRAM", help="name or path of the "
                        "browser (default: the first of Chromium, Chrome, Edge and Brave "
                        "that is installed)")  # fmt: skip
    parser.add_argument("--profile", type=_directory, metavar="DIR",
                        help="directory that keeps the browser's profile, with its sign-ins, "
                        "for later desktops; one desktop at a time has it (default: a profile "
                        "that ends with the desktop)")  # fmt: skip
    parser.add_argument("--browser-sandbox", choices=SANDBOX_MODES, default="auto",
                        help="where it cannot work: auto runs the browser without it, "
                        "required not at all (default: %(default)s)")  # fmt: skip
    parser.add_argument("--egress", choices=EGRESS_MODES, default="open",
                        help="what commands and pages may reach: open, internet (nothing of this "
                        "host or of private networks), list (the names of --egress-allow) or none "
                        "(default: %(default)s); all but open need root")  # fmt: skip
    parser.add_argument("--egress-allow", action="append", default=[], metavar="NAME",
                        help="a name for --egress list: docs.example.com or "
                        "*.example.org (may be given again)")  # fmt: skip
    parser.add_argument("--egress-grant", action="append", default=[], dest="egress_grants",
                        metavar="HOST:PORT", help="an address of this host that may be "
                        "reached nevertheless (may be given again)")  # fmt: skip
    parser.add_argument("--egress-optional", action="store_true",
                        help="where --egress cannot be enforced, start with open and "
                        "report it")  # fmt: skip


def _pair(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not (name and found):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def dialects(names: Iterable[object]) -> tuple[str, ...]:
    """Return the names, each once.

    Raises:
        ValueError: For a name that is not in `DIALECTS`.
    """
    found = dict[str, None]()
    for name in names:
        if not isinstance(name, str) or name not in DIALECTS:
            removed = _REMOVED.get(name) if isinstance(name, str) else None
            problem = removed or f"is no dialect; there are {', '.join(DIALECTS)}"
            raise ValueError(f"{name!r} {problem}")
        found[name] = None
    return tuple(found)


def _directory(text: str) -> Path:
    # The service changes its working directory, and the desktop sees it at another place.
    return Path(text).expanduser().absolute()


def _origin(text: str) -> str:
    if re.fullmatch(r"https?://[^/\s?#@]+", text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not an origin such as https://example.com")
    return text


def _dialects(text: str) -> tuple[str, ...]:
    try:
        return dialects(name.strip() for name in text.split(",") if name.strip())
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _count(text: str) -> int:
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _cpu_weight(text: str) -> int:
    if not (text.isdecimal() and int(text) in CPU_WEIGHTS):
        raise argparse.ArgumentTypeError(f"{text!r} is not a weight of 1 to 10000")
    return int(text)


def _uid_base(text: str) -> int:
    base = _count(text)
    problem = uid_base_problem(base)
    if problem:
        raise argparse.ArgumentTypeError(problem)
    return base


def _size(text: str) -> Size:
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 1920x1080")
    size = Size(int(match[1]), int(match[2]))
    if not all(16 <= side <= LARGEST_SIDE for side in size):
        raise argparse.ArgumentTypeError(f"sides must be 16 to {LARGEST_SIDE} pixels")
    return size


def _layout(text: str) -> str:
    if re.fullmatch(r"\w+(\([\w-]+\))?", text, re.ASCII) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a layout such as de or us(intl)")
    return text


def _timezone(text: str) -> str:
    try:
        zoneinfo.ZoneInfo(text)
    # ValueError comes from absolute paths and "..", OSError from folders such as "Europe".
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time zone such as Europe/Berlin"
        ) from error
    return text


def _locale(text: str) -> str:
    match = re.fullmatch(r"(\w+)(\.utf-?8)?(@\w+)?", text, re.ASCII | re.IGNORECASE)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a locale such as de_DE; all are UTF-8")
    return f"{match[1]}.UTF-8{match[3] or ''}"
