"""The desktop of a chat at work, and its replacement when it is lost."""

from dataclasses import dataclass
from typing import Protocol

from deskhand.tools.agents.chat_recordings.turn_recording import TurnRecording
from deskhand.tools.conversation.conversation import Image, ToolCall
from deskhand.tools.kit.computer import ComputerOutcome

DESKTOP_LOST = (
    "The desktop was lost: its service has ended. You work on a new desktop now. The programs that "
    "ran on the lost one have ended, and the files in its home and work directories are gone; "
    "attached files are kept."
)
DESKTOP_GONE = "The desktop was lost with its programs and files, and no new one could be started:"


class Computer(Protocol):
    """The provider's computer tool."""

    @property
    def people_seconds(self) -> float:
        """Seconds for which people were in control of the desktop during its actions."""

    async def act(self, call: ToolCall, *, picture: bool = True) -> ComputerOutcome:
        """Perform one action and observe its effect; without ``picture``, in words only."""

    async def glance(self) -> Image | None:
        """Store a small screenshot for people; return ``None`` while the screen is private."""


@dataclass(frozen=True)
class Workplace:
    """The desktop of a chat at work, as the computer tool uses it, and its recording there."""

    computer: Computer
    recording: TurnRecording


class FindLost(Protocol):
    """Replacement of the desktop of one chat."""

    async def __call__(self, *, failed: bool) -> Workplace | None:
        """Return a new desktop if the chat's one was lost, else ``None``.

        ``failed`` after a call that failed, perhaps for this reason.

        Raises:
            ChatError: If no new desktop can be had.
        """
