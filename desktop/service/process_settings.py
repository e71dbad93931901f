"""How the commands of a desktop are run, as it was set up."""

from pathlib import Path

from deskhand.desktop.settings import DesktopSettings
from deskhand.tools.processes.hierarchy import Choice
from deskhand.tools.processes.registry import ProcessSettings
from deskhand.tools.processes.spawn import Limits


def process_settings(settings: DesktopSettings, folder: Path, limited: Choice) -> ProcessSettings:
    """Return the settings for commands whose output and journal are kept in ``folder``."""
    return ProcessSettings(
        output_folder=folder / "processes",
        journal=folder / "tool-calls.jsonl",
        limits=Limits(
            nice=settings.command_nice,
            memory_bytes=settings.command_memory_bytes,
            cpus=settings.command_cpus,
            cgroup=None if limited.group is None else Path(limited.group),
        ),
    )
