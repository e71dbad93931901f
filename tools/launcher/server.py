"""The process of the launcher: one request after the other, until the control plane ends."""

import json
import os
import signal
import socket
from contextlib import closing, suppress

from deskhand.desktop.launch.channel import Channel, ChannelClosed
from deskhand.desktop.launch_port.exec_launch import LaunchConfiguration

from .launcher import Launcher, LauncherConfiguration
from .requests import LONGEST_REQUEST

MOST_DESCRIPTORS = 16


def serve(channel: int, configuration: str) -> None:
    """Answer the requests on a socket of sequenced packets; ``configuration`` is JSON."""
    # The service manager signals all processes of a unit, and desktops are ended by requests.
    signal.signal(signal.SIGTERM, lambda *_: None)
    os.umask(0o077)
    fields = json.loads(configuration)
    launch = LaunchConfiguration(**fields.pop("launch"))
    end = socket.socket(fileno=channel)
    end.set_inheritable(False)
    answers = Channel(end)
    try:
        launcher = Launcher(LauncherConfiguration(**fields, launch=launch), os.environ)
    except OSError as error:
        answers.send({"error": str(error), "number": error.errno or 0})
        return
    with closing(launcher), suppress(ChannelClosed, ConnectionResetError):
        answers.send({})
        # One byte more than allowed, so that a longer request is seen to be too long.
        while message := socket.recv_fds(end, LONGEST_REQUEST + 1, MOST_DESCRIPTORS):
            data, descriptors = message[0], message[1]
            if not data:
                return
            for descriptor in descriptors:
                os.set_inheritable(descriptor, False)
            try:
                answer, passed = launcher.answer(data, descriptors)
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
            answers.send(answer, () if passed is None else (passed,))
            if passed is not None:
                os.close(passed)
