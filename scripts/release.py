"""Build what a release contains: wheel, source distribution and list of packages (SBOM).

Usage: python -m scripts.release DIRECTORY

The list is in the format CycloneDX (JSON). It is made from a fresh virtual environment with the
wheel and its dependencies, so that it names the packages that users get. Needs `pip install
'.[release]'`.
"""

import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main(arguments: Sequence[str]) -> int:
    """Build into the directory; return the exit status."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m scripts.release DIRECTORY\n")
        return 2
    target = Path(arguments[0]).absolute()
    target.mkdir(parents=True, exist_ok=True)
    _run(sys.executable, "-m", "build", "--outdir", str(target), str(ROOT))
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    (wheel,) = target.glob(f"deskhand-{version}-*.whl")
    with tempfile.TemporaryDirectory() as folder:
        # Without pip, which is no dependency of the wheel.
        venv.create(folder)
        python = str(Path(folder, "bin", "python"))
        pip = ("-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--quiet")
        lock = str(ROOT / "requirements.lock")
        _run(sys.executable, *pip, "--require-hashes", "--requirement", lock)
        _run(sys.executable, *pip, "--no-deps", str(wheel))
        write_sbom(python, target / f"deskhand-{version}.cdx.json")
    for made in sorted(target.iterdir()):
        sys.stdout.write(f"{made.name} {made.stat().st_size} bytes\n")
    return 0


def write_sbom(python: str, target: Path) -> None:
    """Write the packages of an interpreter's environment to a file, with licences."""
    project = ("--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "application")
    form = ("--output-format", "JSON", "--output-file", str(target))
    _run(sys.executable, "-m", "cyclonedx_py", "environment", *project, *form, python)


def _run(*command: str) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        sys.stderr.write(ended.stdout + ended.stderr)
        raise SystemExit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
