"""Attacks every file and process of a user that it finds; prints the attacks that succeeded.

Arguments: the desktop's directory, the user. It runs with Debian's Python, as the agent or, for
comparison, as the attacked user.
"""

import ctypes
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

PTRACE_ATTACH, PTRACE_DETACH = 16, 17

folder, user = Path(sys.argv[1]), int(sys.argv[2])
targets = json.loads(sys.stdin.read())
done: list[list[str]] = []


def attempt(what: str, target: str, act: Callable[[], object]) -> None:
    try:
        act()
    except OSError:
        return
    done.append([what, target])


def move(path: Path) -> None:
    moved = path.with_name(path.name + ".moved")
    path.rename(moved)
    moved.rename(path)


def appended(path: Path) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK))


def read(path: Path) -> None:
    if path.is_dir():
        list(path.iterdir())
        return
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))


def opened(path: str) -> None:
    os.close(os.open(path, os.O_RDONLY))


def made(path: Path) -> None:
    new = path / "new"
    new.touch()
    new.unlink()


def traced(pid: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(PTRACE_ATTACH, pid, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    os.waitpid(pid, 0x40000000)
    libc.ptrace(PTRACE_DETACH, pid, 0, 0)


for name, kind in targets["paths"].items():
    path = folder / name
    attempt("read", name, partial(read, path))
    if kind == "folder":
        attempt("create", name, partial(made, path))
    elif kind == "file":
        attempt("write", name, partial(appended, path))
    attempt("rename", name, partial(move, path))
for pid in targets["pids"]:
    attempt("signal", str(pid), partial(os.kill, pid, 0))
    attempt("ptrace", str(pid), partial(traced, pid))
    for entry in ("environ", "maps", "mem"):
        path = f"/proc/{pid}/{entry}"
        attempt(entry, str(pid), partial(opened, path))
    for entry in ("fd", "root/"):
        path = f"/proc/{pid}/{entry}"
        attempt(entry, str(pid), partial(read, Path(path)))
# Last: what is gone cannot be attacked in another way.
for name, kind in sorted(targets["paths"].items(), reverse=True):
    path = folder / name
    attempt("unlink", name, path.rmdir if kind == "folder" else path.unlink)
print(json.dumps(done))
