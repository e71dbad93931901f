"""Measurement of the memory and the disks of this machine."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import psutil

from .room import MachineRoom


def machine_room(folders: Sequence[Path]) -> MachineRoom:
    """Return what this machine has; ``folders`` are on the disks that desktops write to."""
    free = {str(folder): shutil.disk_usage(folder).free for folder in folders}
    fullest = min(free, key=lambda folder: free[folder])
    return MachineRoom(psutil.virtual_memory().available, free[fullest], fullest)
