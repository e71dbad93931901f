"""Install our wheel as a user has it, where packages of the same names as our folders exist."""

import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
FOREIGN = ("tools", "desktop", "recording")


@dataclass(frozen=True)
class Installation:
    """A Python environment with our wheel and its dependencies only."""

    folder: Path

    @property
    def python(self) -> str:
        return str(self.folder / "bin" / "python")

    @property
    def deskhand(self) -> str:
        return str(self.folder / "bin" / "deskhand")

    @property
    def packages(self) -> Path:
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    @property
    def environment(self) -> dict[str, str]:
        """Variables that put foreign packages before ours."""
        return {"PYTHONPATH": str(self.folder / "foreign")}


def install(folder: Path) -> Installation:
    """Build the wheel, and install it into a bare environment."""
    _python("hatchling", "build", "--target", "wheel", "--directory", str(folder / "wheel"))
    (wheel,) = (folder / "wheel").glob("*.whl")
    return install_wheel(wheel, folder)


def install_wheel(wheel: Path, folder: Path) -> Installation:
    """Install a wheel into a bare environment, with the dependencies of this one."""
    built = Installation(folder)
    venv.create(folder)
    _python(
        *("pip", "--disable-pip-version-check", "--python", built.python, "install"),
        *("--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel)),
    )
    # A line of a .pth file adds a folder, but not what .pth files in that folder add.
    libraries = Path(psutil.__file__).parents[1]
    (built.packages / "dependencies.pth").write_text(f"{libraries}\n")
    for name in FOREIGN:
        package = folder / "foreign" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text('raise ImportError("a foreign package")\n')
    return built


def _python(*arguments: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
