"""Probe whether the sandbox of Chromium works for a user.

Chromium isolates its renderers in user, PID and network namespaces with an empty root, or with the
help of a program that has the set-user-ID bit
(https://chromium.googlesource.com/chromium/src/+/main/docs/linux/sandboxing.md). Where neither
works it exits with "No usable sandbox!". Containers often forbid both.

The probe makes the same namespaces in a few milliseconds. If it fails, the browser itself may have
more rights: an AppArmor profile (Ubuntu restricts user namespaces to programs with one) or the
helper. Only where one of these is possible the browser is started once without a window.
"""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from deskhand.desktop.isolation.environment import SYSTEM_PATH

ROOT = "Chromium has no sandbox for root; use an unprivileged user"
APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
HELPERS = ("chrome-sandbox", "msedge-sandbox")
_DEBIAN_FOLDER = Path("/usr/lib/chromium")
"""Folder of the browser that /usr/bin/chromium of Debian, a script, starts."""

NAMESPACES = (
    *("unshare", "--user", "--map-root-user", "--pid", "--net", "--fork", "--root=/"),
    "/bin/true",
)
PROBE_SECONDS = 5.0
TRIAL_SECONDS = 30.0
_LONGEST_REASON = 200
# Agents can write into a folder of the PATH of applications.
_PATH = {"PATH": SYSTEM_PATH}


def unavailable(
    program: str,
    *,
    uid: int | None = None,
    namespaces: Sequence[str] = NAMESPACES,
    apparmor: Path = APPARMOR,
) -> str:
    """Return the reason why the sandbox of ``program`` cannot work, empty if it works. Blocks.

    ``uid`` is the user to probe as; by default the one of this process. ``namespaces`` is a command
    that fails where the namespaces cannot be made. ``apparmor`` is the file that contains 1 where
    AppArmor restricts user namespaces.
    """
    if uid == 0 or (uid is None and os.geteuid() == 0):
        return ROOT
    failed = _output(namespaces, _PATH, PROBE_SECONDS, uid)
    if not failed:
        return ""
    reason = f"user namespaces do not work here ({failed})"
    if not (_restricted(apparmor) or has_helper(Path(program))):
        return reason
    folder = Path(tempfile.mkdtemp(prefix="deskhand-probe-", dir="/tmp"))
    try:
        if uid is not None:
            os.chown(folder, uid, -1)
        # Without a message bus, a display or accelerated graphics nothing but the sandbox can fail.
        trial = (
            *(program, "--headless", "--disable-gpu", "--no-first-run", "--disable-breakpad"),
            *(f"--user-data-dir={folder}", "--dump-dom", "about:blank"),
        )
        return _output(trial, {**_PATH, "HOME": str(folder)}, TRIAL_SECONDS, uid)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def has_helper(program: Path) -> bool:
    """Return True if the browser has a sandbox helper with the set-user-ID bit of root."""
    folders = (program.resolve().parent, _DEBIAN_FOLDER)
    return any(_is_root_setuid(folder / name) for folder in folders for name in HELPERS)


def _is_root_setuid(file: Path) -> bool:
    try:
        found = file.stat()
    except OSError:
        return False
    return found.st_uid == 0 and bool(found.st_mode & stat.S_ISUID)


def _restricted(apparmor: Path) -> bool:
    try:
        return apparmor.read_text().strip() == "1"
    except OSError:
        return False


def _output(
    command: Sequence[str], environment: Mapping[str, str], seconds: float, uid: int | None
) -> str:
    """Run a command; return the line that explains its failure, empty if it succeeds."""
    try:
        ended = subprocess.run(
            command,
            env=dict(environment),
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            user=uid,
            extra_groups=None if uid is None else (),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)[:_LONGEST_REASON]
    if ended.returncode == 0:
        return ""
    return explanation(ended.stderr) or f"exit status {ended.returncode}"


def explanation(output: str) -> str:
    """Return the line of an output that names the sandbox or namespaces, else its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    relevant = [line for line in lines if "sandbox" in line.lower() or "namespace" in line.lower()]
    line = (relevant or lines or [""])[-1]
    # Log lines of Chromium begin with process, time and place in brackets.
    return line.rpartition("] ")[2].removeprefix("unshare: ")[:_LONGEST_REASON]
