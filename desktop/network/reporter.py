"""Reading of what a desktop's network refused; each address is published as an event."""

import asyncio
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from types import TracebackType
from typing import Any, Self

from .network import DesktopNetwork
from .nflog import REFUSED_EVENT, Refusal, refusals
from .proxy_config import PROXY, READY, refused_host
from .refusal_history import RefusalHistory

_READ_SIZE = 1 << 16
GATEWAY_EVENT = "egress_gateway"
"""A program that connects the desktop's network has ended, or works again."""
ENDED = b"0"
"""Last byte of a notice after the end of a program; after its start it is another one."""


class RefusalReporter:
    """Publishes refused addresses while it is open, from the event loop that opened it."""

    def __init__(
        self,
        network: DesktopNetwork,
        publish: Callable[[str, dict[str, Any]], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._network = network
        self._publish = publish
        self._clock = clock
        self._history = RefusalHistory()
        self._rest = b""
        self._watched: list[int] = []

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        packets, log = self._network.packets, self._network.proxy_log
        if packets is not None:
            loop.add_reader(packets, self._read_packets, packets)
            self._watched.append(packets.fileno())
        if log is not None:
            loop.add_reader(log, self._read_log, log)
            self._watched.append(log)
        for program, notice in self._network.notices.items():
            loop.add_reader(notice, self._read_notice, program, notice)
            self._watched.append(notice)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        loop = asyncio.get_running_loop()
        for descriptor in self._watched:
            loop.remove_reader(descriptor)
        self._watched.clear()

    def _read_packets(self, packets: socket.socket) -> None:
        # ENOBUFS: packets were lost, and the next read succeeds.
        with suppress(OSError):
            for refusal in refusals(packets.recv(_READ_SIZE)):
                self._report(refusal)

    def _read_notice(self, program: str, notice: int) -> None:
        read = os.read(notice, _READ_SIZE)
        if not read:
            asyncio.get_running_loop().remove_reader(notice)
            self._watched.remove(notice)
        else:
            self._set_running(program, running=not read.endswith(ENDED))

    def _set_running(self, program: str, *, running: bool) -> None:
        known = self._network.restarting
        if running is (program not in known):
            return
        (known.discard if running else known.add)(program)
        self._publish(GATEWAY_EVENT, {"program": program, "running": running})

    def _read_log(self, log: int) -> None:
        read = os.read(log, _READ_SIZE)
        if not read:
            # The proxy has ended; a descriptor at its end would wake the loop for ever.
            asyncio.get_running_loop().remove_reader(log)
            self._watched.remove(log)
            return
        *lines, self._rest = (self._rest + read).split(b"\n")
        for line in lines:
            if READY.encode() in line:
                self._set_running(PROXY, running=True)
            host = refused_host(line.decode(errors="replace"))
            if host is not None:
                self._report(Refusal(host, None, "proxy"))

    def _report(self, refusal: Refusal) -> None:
        if self._history.is_new(refusal, self._clock()):
            self._publish(REFUSED_EVENT, asdict(refusal))
