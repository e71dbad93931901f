"""Decision whether a desktop gets namespaces. Pure."""

from collections.abc import Sequence

SERVICE = "deskhand.desktop"
"""Module that runs as the service."""

_OWN_USER_ONLY = ("--u", "--at")
"""Beginnings of ``--user`` and ``--attach``; argparse accepts every unambiguous one."""


def is_separated(command: Sequence[str], user: int) -> bool:
    """Return True for the service of root with a user of its own.

    A desktop that attaches to a screen or runs as a given user shares what that user has.
    """
    if user != 0 or SERVICE not in command:
        return False
    arguments = command[command.index(SERVICE) + 1 :]
    return not any(one.startswith(_OWN_USER_ONLY) for one in arguments)
