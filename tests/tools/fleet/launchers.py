"""Launchers without a process of their own."""

from pathlib import Path

from deskhand.desktop.launch_port.exec_launch import LaunchConfiguration
from deskhand.tools.fleet.launcher_client import LauncherClient, inner_launcher
from deskhand.tools.launcher.launcher import LauncherConfiguration

OWNER = "/data"


def configuration(root: Path) -> LauncherConfiguration:
    return LauncherConfiguration(OWNER, LaunchConfiguration(str(root), str(root / "work")))


def launcher(root: Path) -> LauncherClient:
    root.mkdir(parents=True, exist_ok=True)
    return inner_launcher(configuration(root), {})
