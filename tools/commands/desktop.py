"""`deskhand desktop`: becomes the keeper of one desktop service."""

from collections.abc import Sequence

from deskhand.desktop.client.command import service_command


def command(arguments: Sequence[str]) -> list[str]:
    """Return the command line that replaces this process."""
    return service_command(*arguments)
