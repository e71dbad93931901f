"""Decision whether a desktop gets namespaces. Pure."""

from collections.abc import Sequence

SERVICE = "deskhand.desktop"
"""Module that runs as the service."""

_OWN_USER_ONLY = ("--us", "--at")
"""Beginnings of ``--user`` and ``--attach``; argparse accepts every unambiguous one."""


def listening_descriptors(command: Sequence[str]) -> tuple[int, ...]:
    """Return the descriptors of listening sockets (``--listen fd:N``) that the service gets."""
    found = []
    for before, one in zip(("", *command), command, strict=False):
        value = one if before == "--listen" else one.partition("--listen=")[2]
        number = value.partition("fd:")[2] if value.startswith("fd:") else ""
        if number.isdecimal():
            found.append(int(number))
    return tuple(found)


def is_separated(command: Sequence[str], user: int) -> bool:
    """Return True for the service of root with a user of its own.

    A desktop that attaches to a screen or runs as a given user shares what that user has.
    """
    if user != 0 or SERVICE not in command:
        return False
    arguments = command[command.index(SERVICE) + 1 :]
    return not any(one.startswith(_OWN_USER_ONLY) for one in arguments)
