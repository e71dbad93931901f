"""A worker of the decoder process: takes its rights away, does one piece of work and ends.

A *spare* worker does so before there is a request, and waits for one. It also makes room in its
heap: otherwise the first large video costs it thousands of page faults, which take longer than the
decoding itself.
"""

import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn

from . import confinement
from .messages import DecodeReply, DecodeRequest, read_request, reply_bytes

Perform = Callable[[DecodeRequest, Sequence[int]], DecodeReply]

LONGEST_REQUEST = 64 * 1024
MOST_FILES = 29
"""Descriptors of one request: the socket for the reply, files, and a folder."""


def work(
    perform: Perform, request: DecodeRequest, descriptors: Sequence[int], *, confined: bool
) -> NoReturn:
    """Be a worker for a request; its first descriptor is the socket for the reply."""

    def step() -> None:
        confinement.end_with_parent()
        _keep(descriptors)
        is_root = os.geteuid() == 0
        used = confinement.used_memory()
        confinement.limit(request.limits, used, processes=confined or is_root)
        if confined:
            confinement.empty_root(request.folder)
        elif request.folder:
            os.chdir(request.folder)
        confinement.drop_rights(confinement.WORKER_UID if is_root else None)
        _finish(perform, request, descriptors)

    _end_after(step)


def wait_and_work(perform: Perform, channel: int, *, confined: bool) -> NoReturn:
    """Be the spare worker: the request comes over ``channel``, with its folder as a descriptor."""

    def step() -> None:
        confinement.end_with_parent()
        _keep((channel,))
        is_root = os.geteuid() == 0
        confinement.make_room()
        used = confinement.used_memory()
        if confined:
            confinement.empty_root("")
        confinement.drop_rights(confinement.WORKER_UID if is_root else None)
        with socket.socket(fileno=channel) as end:
            data, descriptors, _, _ = socket.recv_fds(end, LONGEST_REQUEST, MOST_FILES)
        if data:
            request = read_request(data)
            if request.folder:
                folder = descriptors.pop()
                os.fchdir(folder)
                os.close(folder)
            confinement.limit(request.limits, used, processes=confined or is_root)
            _finish(perform, request, descriptors)

    _end_after(step)


def _end_after(step: Callable[[], None]) -> NoReturn:
    status = 1
    try:
        step()
        status = 0
    except BaseException as error:  # noqa: BLE001 - the process ends here in any case
        with suppress(OSError):
            sys.stderr.write(f"deskhand: a decoder worker failed: {error!r}\n")
    finally:
        # The stack below belongs to the control plane, which must not be unwound here.
        os._exit(status)


def _finish(perform: Perform, request: DecodeRequest, descriptors: Sequence[int]) -> None:
    # A worker that was taken over must not write into the control plane's log.
    os.dup2(0, 2)
    reply, *files = descriptors
    rest = memoryview(reply_bytes(perform(request, files)))
    while rest:
        rest = rest[os.write(reply, rest) :]


def _keep(descriptors: Sequence[int]) -> None:
    """Close all descriptors but the standard ones and these."""
    begin = 3
    for descriptor in sorted(descriptors):
        os.closerange(begin, descriptor)
        begin = descriptor + 1
    os.closerange(begin, os.sysconf("SC_OPEN_MAX"))
