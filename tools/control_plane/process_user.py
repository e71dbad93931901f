"""The user that the control plane of root becomes before it serves.

It becomes that user only if this user can use the data directory and the interpreter, which a
process of the user tries (`access_probe`). Otherwise it stays root.
"""

import json
import os
import pwd
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROBE = "deskhand.tools.control_plane.access_probe"
PROBE_SECONDS = 60.0
INTERPRETER_REMEDY = (
    "install Deskhand where that user can read it: a venv outside of root's home, such as"
    " /opt/deskhand"
)


@dataclass(frozen=True)
class ProcessUser:
    """The user to become."""

    name: str
    uid: int
    gid: int
    home: str


@dataclass(frozen=True)
class StaysRoot:
    """Why the control plane stays root, and how to change that."""

    because: str
    remedy: str


def process_user(
    name: str, data_dir: Path, files: Sequence[Path] = ()
) -> ProcessUser | StaysRoot | None:
    """Return the user to become; ``None`` if this process is not root.

    A data directory that exists and is empty is given to the user. ``files`` are others that it
    must be able to use.
    """
    if os.geteuid() != 0:
        return None
    if not name:
        return StaysRoot("the setting run_as is empty", "set run_as to a user such as deskhand")
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        remedy = f"useradd --system --user-group --no-create-home {name}"
        return StaysRoot(f"there is no user {name}", remedy)
    user = ProcessUser(name, found.pw_uid, found.pw_gid, found.pw_dir)
    is_vacant = _is_vacant(data_dir)
    if is_vacant:
        os.chown(data_dir, user.uid, user.gid)
    refused = _probe(user, data_dir, files)
    if refused is not None and is_vacant:
        os.chown(data_dir, 0, 0)
    return refused or user


def owner_of(data_dir: Path) -> ProcessUser | None:
    """Return the user of a data directory, if this process is root and it is not root's."""
    owner = data_dir.stat().st_uid
    if os.geteuid() != 0 or owner == 0:
        return None
    found = pwd.getpwuid(owner)
    return ProcessUser(found.pw_name, found.pw_uid, found.pw_gid, found.pw_dir)


def own_name() -> str:
    """Return the name of the user of this process; its number if it has none."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


@contextmanager
def acting_as(user: ProcessUser | None) -> Iterator[None]:
    """Open and create files with a user's rights while the block runs; with None as before."""
    if user is None:
        yield
        return
    groups, gid = os.getgroups(), os.getegid()
    os.setgroups([])
    os.setegid(user.gid)
    os.seteuid(user.uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(gid)
        os.setgroups(groups)


def become_user(user: ProcessUser) -> None:
    """Give up root for good."""
    # The order is fixed: without root's rights neither groups nor gid can be changed any more.
    os.setgroups([])
    os.setresgid(user.gid, user.gid, user.gid)
    os.setresuid(user.uid, user.uid, user.uid)
    os.environ.update(HOME=user.home, USER=user.name, LOGNAME=user.name)
    # The user may be unable to enter the present one.
    os.chdir("/")


def _is_vacant(data_dir: Path) -> bool:
    if not data_dir.is_dir():
        return False
    status = data_dir.stat()
    closed = status.st_uid == 0 and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return closed and not any(data_dir.iterdir())


def _probe(user: ProcessUser, data_dir: Path, files: Sequence[Path]) -> StaysRoot | None:
    cannot = f"the user {user.name} cannot"
    interpreter = StaysRoot(f"{cannot} run {sys.executable}", INTERPRETER_REMEDY)
    try:
        tried = subprocess.run(
            [sys.executable, "-P", "-m", PROBE, str(data_dir), *map(str, files)],
            capture_output=True,
            check=False,
            cwd="/",
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
            extra_groups=[],
            group=user.gid,
            timeout=PROBE_SECONDS,
            user=user.uid,
        )
        found = json.loads(tried.stdout)
    # The interpreter may be closed to the user, or the package.
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return interpreter
    if not found:
        return None
    path = Path(found["path"])
    because = f"{cannot} use {path}: {found['reason']}"
    if path.is_relative_to(data_dir):
        remedy = (
            "choose a data directory that the user can reach, such as /var/lib/deskhand/data, and"
            f" run chown -R {user.name}: on it"
        )
        return StaysRoot(because, remedy)
    return StaysRoot(because, f"chown {user.name}: {path}" if path in files else INTERPRETER_REMEDY)
