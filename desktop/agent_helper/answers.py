"""Reads the helper's answers, with their descriptors, from the service's end of the socket."""

import os
import socket
from collections import deque
from dataclasses import dataclass

from deskhand.desktop.agent_helper.wire.frames import MOST_DESCRIPTORS, BrokenFrame, FrameParser
from deskhand.desktop.agent_helper.wire.messages import Answer, answer_of

READ_SIZE = 262_144


@dataclass(frozen=True)
class ReceivedAnswer:
    """An answer; its reader owns the descriptors."""

    answer: Answer
    descriptors: tuple[int, ...] = ()

    def close(self) -> None:
        """Close the descriptors of an answer that no call waits for."""
        for descriptor in self.descriptors:
            os.close(descriptor)


class AnswerReader:
    """Reads from a non-blocking socket. The helper, under attack, may send anything."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._parser = FrameParser()
        self._descriptors: deque[int] = deque()

    def read(self) -> list[ReceivedAnswer]:
        """Return the answers that are complete after one recvmsg(2).

        Raises:
            BlockingIOError: If nothing has arrived.
            EOFError: If the helper has closed its end.
            BrokenFrame: If it sent anything but answers.
        """
        flags = socket.MSG_CMSG_CLOEXEC
        try:
            data, descriptors, returned, _ = socket.recv_fds(
                self._connection, READ_SIZE, MOST_DESCRIPTORS, flags
            )
        except ConnectionResetError:
            raise EOFError from None
        self._descriptors.extend(descriptors)
        if returned & socket.MSG_CTRUNC or len(self._descriptors) > MOST_DESCRIPTORS:
            raise BrokenFrame("too many descriptors")
        if not data:
            raise EOFError
        found = []
        try:
            for frame in self._parser.feed(data):
                if frame.descriptors > len(self._descriptors):
                    raise BrokenFrame("descriptors are missing")
                owned = tuple(self._descriptors.popleft() for _ in range(frame.descriptors))
                found.append(ReceivedAnswer(answer_of(frame.body), owned))
        except BrokenFrame:
            for one in found:
                one.close()
            raise
        return found

    def close(self) -> None:
        """Close descriptors without an answer."""
        while self._descriptors:
            os.close(self._descriptors.popleft())
