"""Files and environment of a desktop session, which exist before its programs are started."""

import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from deskhand.desktop.browser.policy import BrowserLaunch

ASSETS = Path(__file__).parent / "assets"

BUS = Path("run/bus/bus")
"""Socket of the session's message bus in the directory of the desktop."""

SESSION_SERVICES = Path("share/dbus-1/services")
WIDGET_SERVICES = Path("share/dbus-1/accessibility-services")
"""Folders of the files of services that the message buses activate."""

XRESOURCES = Path("share/xresources")
"""File of the X resources of applications (XENVIRONMENT, X(7))."""

_SYSTEM_SERVICES = Path("/usr/share/dbus-1/services")
_ACCESSIBILITY_SERVICE = "org.a11y.Bus.service"

_TEXTS = {
    "openbox.xml": "etc/openbox.xml",
    "themerc": "share/themes/Deskhand/openbox-3/themerc",
    "tint2rc": "etc/tint2rc",
    "deskhand-browser.desktop": "share/applications/deskhand-browser.desktop",
    "deskhand-terminal.desktop": "share/applications/deskhand-terminal.desktop",
    "preferences.json": "share/preferences.json",
    "xresources": "share/xresources",
}
_SCRIPTS = {"browser.sh": "browser", "terminal.sh": "terminal"}
_IMAGES = {"browser.png": "share/icons/browser.png", "terminal.png": "share/icons/terminal.png"}


@dataclass(frozen=True)
class SessionFiles:
    """Files of the package, by name, that are copied into each session."""

    texts: Mapping[str, str]
    images: Mapping[str, bytes]
    programs: str = "bin"
    """Folder of the scripts that start the browser and the terminal."""
    browser_authority: Path | None = None
    """File of the browser's X cookie; None for that in the directory of the desktop."""
    browser_display: str = ""
    """Name of the display that the browser connects to; empty for that of applications."""

    @classmethod
    def read(cls) -> Self:
        """Read the files; they may be unreadable once privileges are dropped."""
        return cls(
            {name: (ASSETS / name).read_text() for name in (*_TEXTS, *_SCRIPTS)},
            {name: (ASSETS / name).read_bytes() for name in _IMAGES},
        )

    def write(self, folder: Path, environment: Mapping[str, str], browser: BrowserLaunch) -> None:
        """Write the files into a desktop's directory; ``environment`` is that of applications."""
        downloads = environment.get("HOME", str(folder)) + "/Downloads"
        scripts = {asset: f"{self.programs}/{name}" for asset, name in _SCRIPTS.items()}
        for asset, place in {**_TEXTS, **scripts}.items():
            text = self.texts[asset].replace("@FOLDER@", str(folder))
            text = text.replace("@PROGRAMS@", str(folder / self.programs))
            text = text.replace("@DOWNLOADS@", downloads)
            text = text.replace("@HOME@", environment.get("HOME", str(folder)))
            authority = self.browser_authority or folder / "run" / "browser" / "Xauthority"
            text = text.replace("@AUTHORITY@", str(authority))
            text = text.replace("@DISPLAY@", self.browser_display)
            for mark, value in _browser_values(browser).items():
                text = text.replace(mark, value)
            _write(folder / place, text.encode(), 0o755 if asset in _SCRIPTS else 0o644)
        for asset, place in _IMAGES.items():
            _write(folder / place, self.images[asset], 0o644)
        _write_accessibility_service(folder)
        (folder / BUS).parent.mkdir(parents=True, exist_ok=True, mode=0o700)


def session_environment(
    folder: Path, display: str, xauthority: Path, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of the applications of a session on ``display``."""
    return {
        **environment,
        "DISPLAY": display,
        "XAUTHORITY": str(xauthority),
        # As pam_systemd(8) sets it; pyautogui takes no screenshot without it.
        "XDG_SESSION_TYPE": "x11",
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder / BUS}",
    }


def _write_accessibility_service(folder: Path) -> None:
    # The launcher of AT-SPI sets a property of the root window, which the filter does not let
    # through. Without a display it leaves that out; its clients use D-Bus.
    with suppress(OSError):
        lines = (_SYSTEM_SERVICES / _ACCESSIBILITY_SERVICE).read_text().splitlines()
        program = next((line[5:] for line in lines if line.startswith("Exec=")), "")
        # It makes the socket of its bus below this directory, which the browser's user may enter.
        place = shlex.quote(f"XDG_RUNTIME_DIR={(folder / BUS).parent}")
        start = f"/usr/bin/env -u DISPLAY {place} {program}"
        text = f"[D-BUS Service]\nName=org.a11y.Bus\nExec={start}\n"
        path = folder / SESSION_SERVICES / _ACCESSIBILITY_SERVICE
        _write(path, text.encode(), 0o644)


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a file that programs of other users read too, whatever the mask of this process."""
    for folder in reversed(path.parents):
        if not folder.exists():
            folder.mkdir()
            folder.chmod(0o755)
    path.write_bytes(content)
    path.chmod(mode)


def _browser_values(browser: BrowserLaunch) -> dict[str, str]:
    """Return the parts of the browser's script that differ from desktop to desktop."""
    return {
        "@BROWSER@": shlex.quote(browser.program or ""),
        "@REFUSAL@": shlex.quote(browser.refusal),
        # `--test-type` hides the warning about the missing sandbox.
        "@SANDBOX@": "" if browser.sandboxed else "--no-sandbox --test-type",
    }
