"""Finishing of a copied recording. Imports the video library, so it is loaded when needed."""

from itertools import groupby
from pathlib import Path

from deskhand.recording.library import metadata
from deskhand.recording.library.catalog import ADDRESS, Catalog
from deskhand.recording.library.metadata import Part

from .ports import FinishedSession


def finish(folder: Path, recording_id: str) -> tuple[FinishedSession, ...]:
    """Close the open parts of a recording in ``folder``; return its sessions, oldest first."""
    catalog = Catalog(folder)
    catalog.recover()
    parts = catalog.parts(recording_id)
    if any(part.end_reason is None for part in parts):
        # The catalog leaves a part open for which the disk has no room.
        raise OSError(f"the recording {recording_id} could not be finished")
    return tuple(
        _session(catalog, tuple(found))
        for _, found in groupby(parts, key=lambda part: part.session_number)
    )


def _session(catalog: Catalog, parts: tuple[Part, ...]) -> FinishedSession:
    paths = [catalog.paths(part.recording_id, part.index) for part in parts]
    facts = metadata.summary(parts, f"{ADDRESS}/{parts[0].recording_id}")
    thumbnail = next((one.thumbnail for one in paths if one.thumbnail.exists()), None)
    return FinishedSession(facts, tuple(one.video for one in paths), thumbnail)
