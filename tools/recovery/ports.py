"""Ports of the recovery: what desktops have, running or dead, and the finishing of a copy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from deskhand.tools.conversation.run_recording import FetchedRecording, StayingRecording

Json = dict[str, Any]


@dataclass(frozen=True)
class LeftRecording:
    """The files of one recording id in the folder of a dead desktop."""

    desktop_id: str
    recording_id: str
    """Of an agent's recording, the id of its chat."""
    files: tuple[str, ...]
    """Names of its files, without folder."""


@dataclass(frozen=True)
class Remains:
    """What all desktops that do not run have left."""

    recordings: tuple[LeftRecording, ...]
    """Those of dead desktops."""
    ending: frozenset[str] = frozenset()
    """Desktops that are locked: their last process may still write, or one that starts removes
    the files of dead desktops, for which it takes their locks."""


class DesktopRemains(Protocol):
    """All access to what dead desktops left; every method blocks.

    Nothing else in the control plane reads, moves or deletes anything in the folder of a desktop
    that is dead.
    """

    def list(self) -> Remains:
        """Return what all dead desktops have left that this control plane has started."""

    def open(self, left: LeftRecording, name: str) -> int:
        """Return a read-only descriptor of one of the files; the caller closes it.

        Raises:
            OSError: If it is missing, or is not an ordinary file of this desktop.
        """

    def remove(self, left: LeftRecording) -> None:
        """Remove a recording, and the desktop's folder with the last one; twice is fine.

        Raises:
            OSError: If this is not possible now, as when the desktop is not dead.
        """


class RunningDesktops(Protocol):
    """The recordings on desktops that run."""

    async def fetch(
        self, chat_id: str, desktop_id: str, staying: StayingRecording
    ) -> FetchedRecording:
        """Copy the files of a recording that has ended, and list them with the chat.

        Raises:
            StoreError: If the chat was deleted, or the database cannot be used.
        """

    async def clear(self, chat_id: str, desktop_id: str, staying: StayingRecording) -> None:
        """Remove the recording from its desktop; one that cannot be removed stays."""


@dataclass(frozen=True)
class FinishedSession:
    """One session of a recording whose files are closed."""

    metadata: Json
    """Of the recorder: ``started_at``, ``take``, ``parts``, ``steps``, ``time_map`` ..."""
    videos: tuple[Path, ...]
    """One for each of the ``parts``."""
    thumbnail: Path | None


class Finisher(Protocol):
    """Closes the files of a killed recorder."""

    def __call__(self, folder: Path, recording_id: str) -> tuple[FinishedSession, ...]:
        """Finish a recording in a folder of recordings; finishing it again changes nothing.

        Videos of which no frame can be read are left out.

        Raises:
            OSError: If the disk is full or fails.
        """
