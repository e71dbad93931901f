"""The keeper's answers to the service: what only a process outside of the namespaces can do.

Requests, one at a time: *prepare* (see `host_side`), once; *pid*, the host's pid of a process whose
pidfd comes with the request.
"""

import importlib
import os
import select
from pathlib import Path

from .channel import Channel, ChannelClosed, Message, pair


class HostChannel:
    """One end of the service's channel to its keeper, and what was prepared for the service."""

    def __init__(self, service: Channel, refused: str) -> None:
        self._service = service
        self._refused = refused
        self._preparing: Channel | None = None
        self._request: Message = {}
        self._account: Message = {}
        self._held: list[int] = []

    def register(self, poll: select.poll) -> None:
        """Let ``poll`` report requests."""
        poll.register(self._service, select.POLLIN)

    def answer(self, descriptor: int, poll: select.poll) -> None:
        """Take what has come on a descriptor that ``poll`` reports; others are ignored."""
        try:
            if descriptor == self._service.fileno():
                self._serve(poll)
            elif self._preparing is not None and descriptor == self._preparing.fileno():
                self._forward(self._preparing, poll)
        except ChannelClosed:
            # The service ends; its exit comes as a signal.
            poll.unregister(descriptor)

    def clear(self, *, service_ended: bool) -> int | None:
        """Remove what the desktop leaves; return its service's user, None if none was prepared.

        ``service_ended`` is False after a crash: then the files are left to be examined, until the
        next desktop starts.
        """
        user: int | None = None
        if self._account:
            host_side = importlib.import_module("deskhand.desktop.launch.host_side")
            account = host_side.Account.from_json(self._account)
            host_side.clear(host_side.parsed(self._request), account, files=service_ended)
            user = account.service.uid
        # The locks are released last: until then the desktop counts as alive.
        for descriptor in self._held:
            os.close(descriptor)
        self._held.clear()
        return user

    def _serve(self, poll: select.poll) -> None:
        request, descriptors = self._service.receive()
        try:
            if request["do"] == "pid":
                self._service.send({"pid": _host_pid(descriptors[0])})
                return
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        self._request = {**request, "separated": not self._refused}
        self._preparing, result = pair()
        if os.fork() == 0:
            try:
                _prepare(self._request, result)
            finally:
                os._exit(0)
        result.close()
        poll.register(self._preparing, select.POLLIN)

    def _forward(self, preparing: Channel, poll: select.poll) -> None:
        try:
            prepared, self._held = preparing.receive()
        except ChannelClosed:
            prepared = {"error": "the desktop could not be prepared"}
        poll.unregister(preparing)
        preparing.close()
        self._preparing = None
        if "account" in prepared:
            self._account = prepared["account"]
        facts = {"keeper": os.getpid(), "refused": self._refused}
        # The service holds the locks too: they must not become free before it has ended.
        self._service.send(prepared | facts, self._held)


def _prepare(request: Message, result: Channel) -> None:
    """Prepare the desktop in this process and send what it has got."""
    host_side = importlib.import_module("deskhand.desktop.launch.host_side")
    try:
        prepared = host_side.prepare(host_side.parsed(request))
    except (host_side.DesktopError, OSError) as error:
        result.send({"error": str(error)})
        return
    message = {"account": prepared.account.to_json(), "display": prepared.display}
    result.send(message, prepared.held)


def _host_pid(pidfd: int) -> int:
    # The number is that of the PID namespace of this ``/proc`` (proc(5), fdinfo).
    facts = Path(f"/proc/self/fdinfo/{pidfd}").read_text()
    return int(facts.partition("\nPid:")[2].split()[0])
