"""An installation and a data directory that users without rights can reach, as on a server."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
USER = "deskhand"
RUN = "import sys; from deskhand.tools.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Installation:
    """A venv, and a folder in which its user has an empty data directory."""

    folder: Path

    @property
    def program(self) -> tuple[str, ...]:
        """The command ``deskhand``."""
        return str(self.folder / "venv" / "bin" / "python"), "-P", "-c", RUN

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def own(self) -> None:
        """Give the data directory to the user."""
        owner = user()
        for path in (self.data, *self.data.rglob("*")):
            os.chown(path, owner.pw_uid, owner.pw_gid)


def user() -> pwd.struct_passwd:
    """Return the user of the control plane, which is made if it is missing."""
    try:
        return pwd.getpwnam(USER)
    except KeyError:
        options = ("--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent")
        subprocess.run(["/usr/sbin/useradd", *options, USER], check=True, capture_output=True)
        return pwd.getpwnam(USER)


@contextmanager
def installation() -> Iterator[Installation]:
    """Make a venv with the packages of this one outside of root's home, while the block runs."""
    user()
    # Short, for sockets are in it; others may pass through.
    folder = Path(tempfile.mkdtemp(prefix="deskhand-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        venv = folder / "venv"
        subprocess.run([_interpreter(folder), "-m", "venv", "--without-pip", venv], check=True)
        (packages,) = venv.glob("lib/python3*/site-packages")
        places = [_readable(folder, Path(one)) for one in sys.path if "site-packages" in one]
        lines = [str(_readable(folder, ROOT)), *map(str, places)]
        (packages / "deskhand.pth").write_text("\n".join(lines) + "\n")
        (folder / "data").mkdir(mode=0o700)
        yield Installation(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _interpreter(folder: Path) -> Path:
    """Return a Python of this version that others can execute."""
    own = Path(sys.executable).resolve()
    system = Path("/usr/bin", f"python3.{sys.version_info.minor}")
    found = next((one for one in (own, system) if one.exists() and _is_open(one)), None)
    if found is not None:
        return found
    base = folder / "python"
    shutil.copytree(sys.base_prefix, base, symlinks=True)
    return base / "bin" / own.name


def _readable(folder: Path, place: Path) -> Path:
    """Return the place, or a copy of it that others can read."""
    if _is_open(place.resolve()):
        return place
    copy = folder / f"copy-{len(list(folder.iterdir()))}"
    ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", "node_modules")
    shutil.copytree(place, copy, symlinks=place == ROOT, ignore=ignored)
    return copy


def _is_open(path: Path) -> bool:
    return all(one.stat().st_mode & 0o001 for one in (path, *path.parents))
