"""Program that runs as the agent's user for OSWorld's routes; copied into the desktop's directory.

Usage: PROGRAM path PATH | desktop | tree PATH | download URL PATH [lan] | terminal PID.
It needs the standard library and the copy of `deskhand.desktop.network.public_addresses` beside it
only: the agent may be unable to read any other.
"""

import http.client
import json
import os
import shutil
import socket
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from deskhand.desktop.network.public_addresses import is_public
else:
    # The option -I leaves the program's own directory out.
    sys.path.append(str(Path(__file__).parent))
    from public_addresses import is_public

MOST_ENTRIES = 100_000
SECONDS = 60.0
"""Time without a byte after which a download has failed."""
PRINT_SECONDS = 2.0
"""Time after which a terminal prints nothing."""
PRINT_SCREEN = b"\x1b[i"
PRINTED = "terminal-text"
"""File in the agent's runtime directory, as in the desktop's resources of xterm."""


def expanded(text: str) -> Path:
    """Return the absolute path that a text means to the agent's user."""
    return Path.home() / os.path.expandvars(Path(text).expanduser())


def tree_of(folder: Path) -> dict[str, Any]:
    """Return the tree below a directory; links are not followed."""
    left = MOST_ENTRIES

    def node(path: Path) -> dict[str, Any]:
        nonlocal left
        children: list[dict[str, Any]] = []
        try:
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
        except PermissionError:
            entries = []
        for entry in entries:
            left -= 1
            if left < 0:
                break
            if entry.is_dir(follow_symlinks=False):
                children.append(node(path / entry.name))
            else:
                children.append({"type": "file", "name": entry.name})
        return {"type": "directory", "name": path.name, "children": children}

    return node(folder)


def public(addresses: list[str]) -> bool:
    """Return whether none of the addresses belongs to a private network."""
    return bool(addresses) and all(map(is_public, addresses))


class _Checked(http.client.HTTPConnection):
    """Connects to an address that was checked, so that a name cannot change in between."""

    def connect(self) -> None:
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        addresses = [str(one[4][0]) for one in found]
        _check(self.host, addresses)
        self.sock = socket.create_connection((addresses[0], self.port), self.timeout)


class _CheckedTls(http.client.HTTPSConnection):
    """The same over TLS."""

    def connect(self) -> None:
        _Checked.connect(self)  # type: ignore[arg-type]
        self.sock = self._context.wrap_socket(self.sock, server_hostname=self.host)  # type: ignore[attr-defined]


class _Http(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Checked, request)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_CheckedTls, request)


def _check_host(url: str) -> None:
    host = urllib.parse.urlsplit(url).hostname or ""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return
    _check(host, [str(one[4][0]) for one in found])


def _check(host: str, addresses: list[str]) -> None:
    if not public(addresses):
        raise OSError(f"{host} has a private address; --speak osworld:lan permits these")


def download(url: str, path: Path, *, lan: bool) -> None:
    """Fetch an address into a file, through the proxy of the environment if there is one."""
    if not url.lower().startswith(("http://", "https://")):
        raise OSError("only http and https are fetched")
    proxies = urllib.request.getproxies()
    # The proxy of a desktop applies the desktop's rules, which refuse private addresses. Where
    # it is the only way out, no name can be resolved here.
    handlers = () if lan or proxies else (_Http, _Https)
    if proxies and not lan:
        _check_host(url)
    opener = urllib.request.build_opener(*handlers)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        with opener.open(url, timeout=SECONDS) as answer, part.open("wb") as file:
            shutil.copyfileobj(answer, file)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def terminal_text(pid: int, seconds: float = PRINT_SECONDS) -> str:
    """Return what an xterm shows; empty if it does not print it.

    The control sequence Media Copy (MC of xterm's ctlseqs) makes it print the screen by the command
    of its resource ``printerCommand``, which writes the file.
    """
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or "/nonexistent")
    printed = folder / PRINTED
    printed.unlink(missing_ok=True)
    # The first child is the shell, on the terminal that the xterm displays.
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    device = str(Path(f"/proc/{children[0]}/fd/0").readlink()) if children else ""
    if not device.startswith("/dev/pts/"):
        return ""
    descriptor = os.open(device, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        os.write(descriptor, PRINT_SCREEN)
    finally:
        os.close(descriptor)
    deadline = time.monotonic() + seconds
    while not printed.exists():
        if time.monotonic() > deadline:
            return ""
        time.sleep(0.01)
    lines = printed.read_text("utf-8", "replace").splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def run(words: list[str]) -> str:
    """Do what the words of a command line request, and return what it prints."""
    match words:
        case ["path", text]:
            return str(expanded(text))
        case ["desktop"]:
            folder = Path.home() / "Desktop"
            folder.mkdir(exist_ok=True)
            return str(folder)
        case ["tree", text]:
            folder = expanded(text)
            if not folder.is_dir():
                raise OSError("The provided path is not a directory")
            return json.dumps(tree_of(folder))
        case ["download", url, text, *more]:
            download(url, expanded(text), lan=more == ["lan"])
            return ""
        case ["terminal", pid]:
            return terminal_text(int(pid))
    raise OSError("wrong arguments")


if __name__ == "__main__":
    try:
        sys.stdout.write(run(sys.argv[1:]))
    except (OSError, ValueError, http.client.HTTPException) as error:
        sys.exit(str(error))
