"""Runs the demo and the unit tests in fresh root file systems of Debian, made by debootstrap.

Usage, as root: python -m scripts.distributions [--keep DIR] [--write FILE] [RELEASE ...]

Each release is a directory that becomes the root by pivot_root(2): in a mere chroot the kernel
refuses user namespaces (user_namespaces(7)), which the browser's sandbox needs. The mirror is the
one of this machine's apt, or ``DESKHAND_DEBIAN_MIRROR``. Variables ``PIP_*`` and the machine's
certificates are passed on, since packages of Python may come through a proxy. Only what is
committed is tested.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "bench" / "results" / "distributions.json"
RELEASES = {"bookworm": "Debian 12", "trixie": "Debian 13"}
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PACKAGES = ("at-spi2-core", "chromium", "git", "python3")
_COUNT = re.compile(r"(\d+) (passed|failed|error|errors|skipped)\b")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)

# Its arguments are the new root and a command. The old root is needed until the new one is entered.
ENTER = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs run
mkdir -p old
pivot_root . old
umount -l /old
cd /deskhand
exec sh -c "$2"
"""

Json = dict[str, Any]


def main() -> int:
    """Run all releases; return 1 if anything failed in one of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("releases", nargs="*", default=list(RELEASES), metavar="RELEASE")
    parser.add_argument("--keep", type=Path, help="directory of root file systems to make or reuse")
    parser.add_argument("--write", type=Path, default=RESULTS, help="file of the report")
    given = parser.parse_args()
    unknown = set(given.releases) - set(RELEASES)
    if unknown:
        parser.error(f"unknown release: {', '.join(sorted(unknown))}")
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        parser.error("this needs root, and the package debootstrap")
    report: Json = json.loads(given.write.read_text()) if given.write.exists() else {}
    with ExitStack() as stack:
        folder = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for release in given.releases:
            report[RELEASES[release]] = examined(folder.absolute() / release, release)
            given.write.write_text(json.dumps(report, indent=2, sort_keys=True) + "\n")
    chosen = [report[RELEASES[release]] for release in given.releases]
    return 0 if all(found["passed"] for found in chosen) else 1


def examined(root: Path, release: str) -> Json:
    """Return the report of one release."""
    fresh = not (root / "etc" / "debian_version").exists()
    if fresh:
        line = ("debootstrap", "--variant=minbase", "--include=ca-certificates", release)
        subprocess.run([*line, str(root), mirror()], check=True)
    if CERTIFICATES.exists():
        shutil.copy(CERTIFICATES, root / str(CERTIFICATES).lstrip("/"))
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    shutil.rmtree(root / "deskhand", ignore_errors=True)
    subprocess.run(
        ["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(root / "deskhand")], check=True
    )
    parts = {
        # The first command of the README.
        "setup": "apt-get -q update && apt-get install -qy git make curl && make setup",
        "demo": "make demo",
        "unit": "make unit",
    }
    environment = variables()
    date = datetime.now(UTC).date().isoformat()
    found: Json = {"date": date, "commit": commit(), "fresh": fresh, "passed": True}
    for name, command in parts.items():
        began = time.monotonic()
        status, output = run(root, command, environment)
        found[name] = {"passed": status == 0, "seconds": round(time.monotonic() - began)}
        if name == "unit":
            counts = {kind: int(number) for number, kind in _COUNT.findall(output[-500:])}
            found[name]["counts"] = counts
            found[name]["failures"] = sorted(set(_FAILED.findall(output)))
        if name == "demo":
            found[name]["sandbox"] = "without its sandbox" not in output
        found["passed"] = found["passed"] and status == 0
        if name == "setup":
            query = f"dpkg-query -W -f '${{Package}} ${{Version}}\\n' {' '.join(PACKAGES)}"
            _, versions = run(root, query, environment)
            found["versions"] = dict(line.split(" ", 1) for line in versions.splitlines() if line)
        if status != 0 and name == "setup":
            break
    return found


def mirror() -> str:
    """Return the address of Debian's packages that this machine uses."""
    named = os.environ.get("DESKHAND_DEBIAN_MIRROR")
    if named:
        return named
    line = ("apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(REPO_URI)")
    listed = subprocess.run(
        [*line, "Created-By: Packages"], capture_output=True, text=True, check=True
    ).stdout
    for target in listed.splitlines():
        origin, label, address = target.split(" ", 2)
        if (origin, label) == ("Debian", "Debian"):
            return address
    raise SystemExit("no mirror of Debian is configured: set DESKHAND_DEBIAN_MIRROR")


def variables() -> dict[str, str]:
    """Return the environment of the commands."""
    passed = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return {
        **passed,
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "DEBIAN_FRONTEND": "noninteractive",
        "DEMO_EXIT": "1",
        "PIP_CERT": str(CERTIFICATES),
        "SSL_CERT_FILE": str(CERTIFICATES),
    }


def run(root: Path, command: str, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a command in a root file system, shown as it runs; return its status and output."""
    namespaces: Sequence[str] = (
        # A shell ignores signals in what it runs in the background, and children inherit that.
        *("env", "--default-signal"),
        *("setpriv", "--pdeathsig", "KILL"),
        *("unshare", "--mount", "--pid", "--fork", "--kill-child"),
    )
    lines = []
    with subprocess.Popen(
        [*namespaces, "bash", "-c", ENTER, "enter", str(root), command],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line)
    return process.returncode, "".join(lines)


def commit() -> str:
    """Return the commit that is tested."""
    line = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
