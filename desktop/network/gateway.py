"""The programs that connect a desktop's network namespace with the host, or keep it from it."""

import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self

from .egress import Grant
from .errors import EgressUnavailable
from .programs import find_program
from .proxy_config import READY, configuration, filter_file
from .refused_page import proxy_page
from .ruleset import PROXY_USER

RELAY = Path(__file__).with_name("relay.py")
MTU = 65520
"""Of the interface: the largest that slirp4netns recommends."""

START_SECONDS = 10.0
"""Timeout for each program to start."""

MOST_LISTENERS = 12
"""Of one relay: a message to init has 16 descriptors at most."""


class ProgramKeeper(Protocol):
    """Starts programs of root, and starts each again whenever it ends, until ``forget``."""

    def keep(
        self,
        argv: Sequence[str],
        descriptors: Sequence[int],
        numbers: Sequence[int],
        notice: int,
        *,
        inside: bool,
    ) -> None:
        """Start a program; ``descriptors`` have these ``numbers`` in it.

        ``notice`` gets a character ``0`` at each end. With ``inside`` the program is in the
        namespaces of this process. Raises OSError.
        """

    def forget(self) -> None:
        """Start none of them again. Raises OSError."""


class Gateway:
    """Starts the programs that connect a desktop's network.

    ``keeper`` starts them again when they end; all end with this process.
    """

    def __init__(self, keeper: ProgramKeeper) -> None:
        self._open = ExitStack()
        self._keeper = keeper
        self.notices: dict[str, int] = {}
        """Reading ends of what reports the ends (``0``) and starts (``1``) of each program."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._open.close()

    def connect(self, namespace: int) -> None:
        """Connect a network namespace with that of the host; return when it works.

        Raises:
            EgressUnavailable: With the last line of the program's output.
        """
        ready = self._notice("slirp4netns")
        # In no mount: one with a file that is open for writing cannot be made read-only.
        with os.fdopen(os.memfd_create("slirp4netns"), "w+b") as errors:
            ending = self._ending()
            command = [
                *(_path("slirp4netns"), "--configure", f"--mtu={MTU}", "--disable-host-loopback"),
                *("--enable-sandbox", "--enable-seccomp", f"--ready-fd={ready}"),
                *(f"--exit-fd={ending}", "--netns-type=path"),
                *(f"/proc/self/fd/{namespace}", "tap0"),
            ]
            output = errors.fileno()
            passed = {1: output, 2: output} | {one: one for one in (namespace, ready, ending)}
            try:
                self._keep(command, passed, ready, inside=False)
            finally:
                os.close(ready)
                os.close(ending)
            answer = self.notices["slirp4netns"]
            # A 0: the program has ended, and the last line of its output is the reason.
            if not select.select([answer], [], [], START_SECONDS)[0] or os.read(answer, 1) != b"1":
                raise EgressUnavailable(f"slirp4netns: {_last_line(errors)}")

    def relay(self, relays: Sequence[tuple[socket.socket, Grant]]) -> None:
        """Relay what connects to each listener to its address; the listeners are closed here."""
        notice, ending = self._notice("relay"), self._ending()
        try:
            for begin in range(0, len(relays), MOST_LISTENERS):
                part = relays[begin : begin + MOST_LISTENERS]
                listeners = [listener.fileno() for listener, _ in part]
                addresses = [f"{one.fileno()}={grant.host}:{grant.port}" for one, grant in part]
                command = [sys.executable, "-S", "-E", str(RELAY), str(notice), str(ending)]
                passed = {one: one for one in (notice, ending, *listeners)}
                self._keep([*command, *addresses], passed, notice, inside=False)
        finally:
            os.close(notice)
            os.close(ending)
            for listener, _ in relays:
                listener.close()

    def enforce(self, rules: str) -> None:
        """Load nftables rules into the calling thread's namespace, if nft is installed.

        Raises:
            EgressUnavailable: If the kernel or the program refuses them.
        """
        nft = find_program("nft")
        if nft is None:
            return
        loaded = subprocess.run(
            [nft, "-f", "-"],
            input=rules,
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
        )
        if loaded.returncode != 0:
            raise EgressUnavailable(f"nft: {loaded.stderr.strip().partition(chr(10))[0]}")

    def start_proxy(self, allow: Sequence[str]) -> int:
        """Start the proxy for a list of names; return the reading end of its log when it listens.

        Raises:
            EgressUnavailable: With the last line of its output.
        """
        files = {name: self._file(name) for name in ("filter", "page", "configuration")}
        paths = {name: f"/proc/self/fd/{descriptor}" for name, descriptor in files.items()}
        contents = {
            "filter": filter_file(allow),
            "page": proxy_page(allow),
            "configuration": configuration(paths["filter"], paths["page"]),
        }
        for name, descriptor in files.items():
            os.pwrite(descriptor, contents[name].encode(), 0)
        log, writing = os.pipe()
        self._open.callback(os.close, log)
        notice = self._notice("tinyproxy")
        user = str(PROXY_USER)
        command = [
            *(_path("setpriv"), "--reuid", user, "--regid", user, "--clear-groups"),
            *("--bounding-set", "-all", "--no-new-privs", "--pdeathsig", "KILL", "--"),
            *(_path("tinyproxy"), "-d", "-c", paths["configuration"]),
        ]
        passed = {1: writing, 2: writing} | {one: one for one in files.values()}
        try:
            self._keep(command, passed, notice, inside=True)
        finally:
            os.close(writing)
            os.close(notice)
        _wait_for(log, READY)
        os.set_blocking(log, False)
        return log

    def _keep(
        self, command: Sequence[str], passed: Mapping[int, int], notice: int, *, inside: bool
    ) -> None:
        """Keep a program; ``passed`` has the descriptor for each number in the program."""
        numbers = tuple(passed)
        descriptors = [passed[number] for number in numbers]
        self._open.callback(self._forget)
        self._keeper.keep(command, descriptors, numbers, notice, inside=inside)

    def _forget(self) -> None:
        # At the end of this process, init may have ended before.
        with suppress(OSError):
            self._keeper.forget()

    def _notice(self, program: str) -> int:
        """Return the writing end of the notice of a program."""
        # init must never wait for a reader.
        self.notices[program], writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._open.callback(os.close, self.notices[program])
        return writing

    def _ending(self) -> int:
        """Return a descriptor that is hung up when the gateway is closed, or this process ends."""
        reading, writing = os.pipe()
        self._open.callback(os.close, writing)
        return reading

    def _file(self, name: str) -> int:
        descriptor = os.memfd_create(name)
        self._open.callback(os.close, descriptor)
        return descriptor


def _path(program: str) -> str:
    return find_program(program) or program


def _last_line(output: IO[bytes]) -> str:
    output.seek(0)
    lines = output.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it has ended"


def _wait_for(log: int, text: str) -> None:
    found = b""
    while text.encode() not in found:
        ready = select.select([log], [], [], START_SECONDS)[0]
        piece = os.read(log, 4096) if ready else b""
        if not piece:
            lines = found.decode(errors="replace").strip().splitlines()
            raise EgressUnavailable(f"tinyproxy: {lines[-1] if lines else 'no answer'}")
        found += piece
