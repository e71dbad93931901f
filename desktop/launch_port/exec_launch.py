"""The launch port by fork and exec of a keeper."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deskhand.desktop.client.command import service_command
from deskhand.desktop.context.places import VARIABLES
from deskhand.desktop.isolation.workdirs import Workdir
from deskhand.desktop.launch.mount_plan import HIDDEN

from .launch_port import LaunchDescriptors, LaunchedDesktop, LaunchSpec

LINGER_SECONDS = 15 * 60
"""Seconds without a request after which a service ends by itself."""

PASSED_ON = (
    *("PATH", "LANG", "LC_ALL", "TZ"),
    *("XDG_RUNTIME_DIR", "DESKHAND_RUN_DIR", "DESKHAND_USERS", "DESKHAND_NAMESPACES"),
    *VARIABLES,
)
"""The variables that a service inherits: provider keys are not among them."""


@dataclass(frozen=True)
class LaunchConfiguration:
    """Settings that all desktops of a control plane have in common."""

    root: str
    """Folder of the desktops' directories."""
    workdirs: str
    """Folder of the working directories that desktops share."""
    options: tuple[str, ...] = ()
    """Added to the command line of each service."""
    hidden: tuple[str, ...] = ()
    """Directories that no desktop may see."""
    profiles: str = ""
    """Folder of the named profiles; empty for one in that of the desktops' directories."""


class ExecLaunch:
    """Starts each desktop as a new process, with variables of ``environment`` (`PASSED_ON`)."""

    def __init__(self, configuration: LaunchConfiguration, environment: Mapping[str, str]) -> None:
        self._configuration = configuration
        passed = {name: value for name, value in environment.items() if name in PASSED_ON}
        self.environment = {**passed, HIDDEN: os.pathsep.join(configuration.hidden)}
        """Of each desktop."""
        self._keepers: dict[int, subprocess.Popen[bytes]] = {}

    def launch(
        self,
        spec: LaunchSpec,
        descriptors: LaunchDescriptors,
        workdir: Workdir | None = None,
        profile: Path | None = None,
    ) -> LaunchedDesktop:
        """Start a desktop; see ``DesktopLaunch``. ``profile`` is the directory of its profile.

        Raises:
            OSError: If it cannot be started.
        """
        keeper = subprocess.Popen(
            self.command(spec, descriptors.listening, workdir, profile),
            stdin=descriptors.token,
            stdout=descriptors.ready,
            stderr=descriptors.log,
            pass_fds=(descriptors.listening,),
            # The current directory must not stay in use after the control plane has ended.
            cwd="/",
            env=self.environment,
            # Ctrl-C in our terminal must not reach the keepers: the control plane ends them.
            start_new_session=True,
            # Users of the desktop read files that root makes for it; the caller's may be private.
            umask=0o022,
        )
        self._keepers[keeper.pid] = keeper
        return LaunchedDesktop(keeper.pid, os.pidfd_open(keeper.pid))

    def reap(self) -> None:
        """Wait for the keepers that have ended: until then each is a zombie."""
        for pid, keeper in list(self._keepers.items()):
            if keeper.poll() is not None:
                del self._keepers[pid]

    def command(
        self, spec: LaunchSpec, listening: int, workdir: Workdir | None, profile: Path | None
    ) -> list[str]:
        """Return the command line of a keeper, whose service gets its socket under a number."""
        folder = Path(self._configuration.root, spec.desktop_id)
        return service_command(
            *("--folder", str(folder), "--listen", f"fd:{listening}"),
            # The desktop's user can see arguments (ps(1)), and may be able to read files.
            *("--token-file", "/dev/stdin", "--linger", str(LINGER_SECONDS), "--json"),
            *self._configuration.options,
            *(() if workdir is None else workdir.options()),
            *(() if profile is None else ("--profile", str(profile))),
            *spec.egress.options,
            *(() if spec.has_display else ("--display", "on-request")),
            *(("--speak", ",".join(spec.speak)) if spec.speak else ()),
            # After those of the configuration, which they replace.
            *spec.options,
        )
