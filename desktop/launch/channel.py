"""Messages with descriptors between the processes that keep a desktop (unix(7), SCM_RIGHTS).

Each message is one JSON object in one packet, so a reader never receives half of one. An object
that is too long for a packet travels in a file without a name (memfd_create(2)), the last
descriptor.
"""

import json
import os
import socket
from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]

CHANNELS = "DESKHAND_LAUNCH"
"""Variable with three descriptors of the service: its channels to the keeper and to init, and the
socket of the fork server of agent helpers."""

LONGEST_PACKET = 60_000
"""Bytes; the send buffer of a socket holds several packets of this length (unix(7))."""

MOST_DESCRIPTORS = 16
_IN_FILE = b"file"


class ChannelClosed(Exception):
    """The process at the other end has ended."""


class Channel:
    """One end of a connected pair of sequenced-packet sockets."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def fileno(self) -> int:
        """Return the descriptor, for poll(2)."""
        return self._end.fileno()

    def send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        """Send one message; the descriptors stay open here.

        Raises:
            ChannelClosed: If the other end is closed.
        """
        data, files = json.dumps(message).encode(), list(descriptors)
        inline = len(data) <= LONGEST_PACKET
        if not inline:
            files.append(os.memfd_create("message"))
            os.write(files[-1], data)
        try:
            socket.send_fds(self._end, [data if inline else _IN_FILE], files)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ChannelClosed from error
        finally:
            if not inline:
                os.close(files[-1])

    def receive(self) -> tuple[Message, list[int]]:
        """Wait for one message; the caller closes its descriptors.

        Raises:
            ChannelClosed: If the other end is closed.
        """
        try:
            data, files, _, _ = socket.recv_fds(self._end, LONGEST_PACKET, MOST_DESCRIPTORS)
        except ConnectionResetError as error:
            raise ChannelClosed from error
        if not data:
            raise ChannelClosed
        for descriptor in files:
            os.set_inheritable(descriptor, False)
        if data == _IN_FILE:
            with open(files.pop(), "rb") as file:  # noqa: PTH123 - a descriptor has no path
                # Sender and receiver share the file's position.
                file.seek(0)
                data = file.read()
        message: Message = json.loads(data)
        return message, files

    def close(self) -> None:
        """Close this end."""
        self._end.close()


def pair() -> tuple[Channel, Channel]:
    """Return two connected ends."""
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return Channel(one), Channel(other)


def adopted(descriptor: int) -> Channel:
    """Return the end that a parent process left open under this number."""
    os.set_inheritable(descriptor, False)
    return Channel(socket.socket(fileno=descriptor))
