"""Settings of the process core, derived from those of the desktop."""

from pathlib import Path

from deskhand.desktop.isolation.data_dir import DesktopDirectory
from deskhand.desktop.processes.cgroup_choice import Choice
from deskhand.desktop.processes.registry import ProcessSettings
from deskhand.desktop.processes.spawn import ResourceLimits
from deskhand.desktop.settings import DesktopSettings


def process_settings(
    settings: DesktopSettings,
    directory: DesktopDirectory,
    cgroup: Choice,
    *,
    processes: int | None = None,
    applications: Path | None = None,
) -> ProcessSettings:
    """Return the settings for commands whose output and journal are kept in ``directory``.

    ``processes`` is the number of processes that the whole desktop may have. ``applications`` is
    the parent of the groups of programs that the service launches; None for that of the commands.
    """
    parent = None if cgroup.group is None else Path(cgroup.group)
    return ProcessSettings(
        output_folder=directory.path / "processes",
        journal=directory.detached_journal,
        limits=ResourceLimits(
            nice=settings.command_nice,
            memory_bytes=settings.command_memory_bytes,
            cpus=settings.command_cpus,
            processes=processes,
            cgroup=parent,
            application_cgroup=parent and applications,
        ),
    )
