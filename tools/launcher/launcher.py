"""The commands of the launcher: prepare, start, stop, list, open, remove, kill and profiles.

Each command ends at once; the sender waits for the end of a desktop by its pidfd. Nothing that a
request names is used as a path: ids lead to folders below the root that the configuration names.
"""

import errno
import os
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deskhand.desktop.isolation.data_dir import open_root
from deskhand.desktop.isolation.workdirs import Workdirs
from deskhand.desktop.launch_port.exec_launch import ExecLaunch, LaunchConfiguration
from deskhand.desktop.launch_port.fork_launch import ForkLaunch
from deskhand.desktop.launch_port.keeper_records import KeeperRecord, KeeperRecords
from deskhand.desktop.launch_port.launch_port import LaunchDescriptors
from deskhand.desktop.profiles.errors import ProfileInUse
from deskhand.desktop.profiles.profile_folder import ProfileFolder

from . import remains
from .requests import LauncherRequest, RequestRefused, parse_request

PROFILES = "profiles"
"""Folder of the named profiles, if the configuration names none."""

Answer = tuple[dict[str, Any], int | None]
"""A message, and a descriptor to pass on."""


@dataclass(frozen=True)
class LauncherConfiguration:
    """Settings of a launcher, which its control plane passes when it starts it."""

    owner: str
    """The data directory of the control plane."""
    launch: LaunchConfiguration


class Launcher:
    """Carries out the requests of one control plane."""

    def __init__(
        self, configuration: LauncherConfiguration, environment: Mapping[str, str]
    ) -> None:
        self._root = Path(configuration.launch.root)
        os.close(open_root(self._root))
        self._records = KeeperRecords(self._root, configuration.owner)
        self._workdirs = Workdirs(Path(configuration.launch.workdirs), Path(configuration.owner))
        self._workdirs.prepare()
        profiles = configuration.launch.profiles or self._root / PROFILES
        self._profiles = ProfileFolder(Path(profiles))
        self._launch = ForkLaunch(ExecLaunch(configuration.launch, environment), environment)
        self._commands: dict[str, Callable[[LauncherRequest], Answer]] = {
            "stop": lambda request: self._signal(request, signal.SIGTERM),
            "kill": lambda request: self._signal(request, signal.SIGKILL),
            "prepare": lambda _: ({"prepared": self._launch.prepare()}, None),
            "list": self._list,
            "open": self._open,
            "remove": self._remove,
            "profiles": self._list_profiles,
        }

    def close(self) -> None:
        """End the fork server; the desktops continue."""
        self._launch.close()

    def answer(self, data: bytes, descriptors: Sequence[int]) -> Answer:
        """Carry out one request; every error becomes an answer."""
        self._launch.reap()
        try:
            request = parse_request(data, len(descriptors))
            if request.spec is not None:
                return self._start(request, LaunchDescriptors(*descriptors))
            return self._commands[request.command](request)
        except (RequestRefused, ProfileInUse) as error:
            return {"refused": str(error)}, None
        except OSError as error:
            return {"error": error.strerror or str(error), "number": error.errno or 0}, None

    def _start(self, request: LauncherRequest, descriptors: LaunchDescriptors) -> Answer:
        if request.spec is None or (self._root / request.id).exists():
            raise RequestRefused(f"there is a desktop {request.id} already")
        workdir = self._workdirs.of(request.workdir) if request.workdir else None
        # The desktop may get the users of one that was killed.
        self._profiles.close_unused()
        profile = self._profiles.of(request.profile) if request.profile else None
        launched = self._launch.launch(request.spec, descriptors, workdir, profile)
        self._records.add(request.id, launched.pid)
        return {"pid": launched.pid}, launched.exit

    def _signal(self, request: LauncherRequest, number: int) -> Answer:
        self._record(request.id).send(number)
        return {}, None

    def _list(self, _: LauncherRequest) -> Answer:
        return {"desktops": {name: self._described(name) for name in self._records.ids()}}, None

    def _open(self, request: LauncherRequest) -> Answer:
        folder = self._dead_folder(request.id)
        return {}, remains.open_file(folder, request.recording, request.file)

    def _remove(self, request: LauncherRequest) -> Answer:
        if request.workdir:
            self._workdirs.remove(request.workdir)
            return {}, None
        if request.profile:
            return {"removed": self._profiles.remove(request.profile)}, None
        folder = self._dead_folder(request.id)
        if request.recording:
            remains.remove_recording(folder, request.recording)
        if remains.recordings(folder):
            return {"removed": False}, None
        shutil.rmtree(folder, ignore_errors=True)
        self._records.remove(request.id)
        return {"removed": True}, None

    def _list_profiles(self, _: LauncherRequest) -> Answer:
        return {"profiles": [asdict(one) for one in self._profiles.all()]}, None

    def _described(self, desktop_id: str) -> dict[str, Any]:
        record, folder = self._record(desktop_id), self._root / desktop_id
        state = self._state(record, folder)
        left = remains.recordings(folder) if state == "dead" else {}
        return {"pid": record.pid, "state": state, "recordings": left}

    def _dead_folder(self, desktop_id: str) -> Path:
        folder = self._root / desktop_id
        if self._state(self._record(desktop_id), folder) != "dead":
            raise RequestRefused(f"the desktop {desktop_id} is not dead")
        return folder

    def _state(self, record: KeeperRecord, folder: Path) -> str:
        # A service whose keeper was killed still closes its recordings.
        if record.is_alive:
            return "runs"
        return "ends" if remains.is_locked(self._root, folder) else "dead"

    def _record(self, desktop_id: str) -> KeeperRecord:
        record = self._records.get(desktop_id)
        if record is None:
            raise ProcessLookupError(errno.ESRCH, f"there is no desktop {desktop_id}")
        return record
