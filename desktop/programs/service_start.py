"""Start of the service's process, by init or, without one, by its keeper."""

import os
import signal
from collections.abc import Callable, Collection, Mapping

StartService = Callable[[list[str], Mapping[str, str], Collection[int]], int]
"""Starts a command line with an environment, and returns the pid. Of its descriptors the process
gets the first three, the listening sockets that its arguments name, and those given here."""


def execute(command: list[str], environment: Mapping[str, str], passed: Collection[int]) -> int:
    """Start the service as a program of its own."""
    for descriptor in passed:
        os.set_inheritable(descriptor, True)
    # execve(2) keeps SIGINT ignored, as a shell leaves it for background jobs: the service needs
    # it at its default.
    return os.posix_spawn(command[0], command, environment, setsigdef=[signal.SIGINT])
