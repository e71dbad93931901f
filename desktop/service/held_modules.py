"""Import of modules whose files the service may no longer reach.

A library that is loaded at its first use, such as that of MCP, may lie where the desktop sees
nothing, or where its user may not enter, as below ``/root``. So the service opens the folders of
modules while it can. A descriptor leads to the files in its folder without the folders above it:
``/proc/self/fd/N`` (proc_pid_fd(5)) of the process itself needs no permission. Where the kernel
permits it, the descriptor is that of a mount of its own (open_tree(2)), from which no ``..`` leads
to what the desktop must not see.
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, DistributionFinder, MetadataPathFinder
from pathlib import Path
from types import ModuleType

from deskhand.desktop.launch.namespaces import mount_copy


class HeldModules(MetaPathFinder):
    """Finds modules in folders that were opened before; asked after all other finders."""

    def __init__(self, folders: Mapping[str, str]) -> None:
        """``folders`` are the open folders by their paths, as ``/proc/self/fd/7``."""
        self._folders = folders

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module, None if no open folder has it."""
        return PathFinder.find_spec(fullname, self._held(sys.path if path is None else path))

    def find_distributions(
        self, context: DistributionFinder.Context | None = None
    ) -> Iterable[Distribution]:
        """Return the installed distributions of the open folders."""
        wanted = context or DistributionFinder.Context()
        names = {} if wanted.name is None else {"name": wanted.name}
        held = DistributionFinder.Context(path=self._held(wanted.path), **names)
        return MetadataPathFinder.find_distributions(held)

    def _held(self, paths: Iterable[str]) -> list[str]:
        found = []
        for path in paths:
            for folder, opened in self._folders.items():
                if path == folder or path.startswith(f"{folder}/"):
                    found.append(opened + path.removeprefix(folder))
        return found


def hold_modules() -> None:
    """Open the folders of modules, for the rest of this process."""
    folders = {}
    for path in dict.fromkeys(sys.path):
        # Python names an archive of its library that need not exist.
        if Path(path).is_dir():
            folders[path] = f"/proc/self/fd/{_opened(path)}"
    sys.meta_path.append(HeldModules(folders))


def _opened(path: str) -> int:
    try:
        return mount_copy(path)
    except OSError:
        # Only root may copy mounts; the desktops of others have no view of their own.
        return os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
