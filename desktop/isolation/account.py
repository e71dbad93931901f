"""The user that a desktop runs as, and the change to that user.

Levels. *user*: root starts the service, which changes to a user ``deskhand-NN`` that no other
desktop uses at the same time, or to the user that was requested. *shared*: the service is started
without privileges and runs as the user who started it. *root*: root requested root.
"""

import ctypes
import fcntl
import os
import pwd
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TextIO

from deskhand.desktop.errors import AccountUnavailable

Level = Literal["shared", "user", "root"]

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38
"""Of <linux/prctl.h>, prctl(2)."""

NUMBERS = range(1, 100)
"""Of the users deskhand-NN."""

USER_LOCKS = Path("/var/lib/deskhand/users")
"""One lock for each numbered user that a desktop works as, for the whole machine."""


@dataclass(frozen=True)
class Account:
    """The user that a desktop's applications and processes run as."""

    name: str
    uid: int
    gid: int
    level: Level
    numbered: bool = False
    """True for a ``deskhand-NN``, which one desktop uses at a time."""
    groups: tuple[int, ...] = ()
    """Supplementary groups."""

    @property
    def dropped(self) -> bool:
        """True if the service drops privileges to become this user."""
        return self.level == "user"


@contextmanager
def claimed(
    requested: str | None, locks: Path, numbers: Sequence[int] = NUMBERS
) -> Iterator[Account]:
    """Yield the account to use; a numbered one is locked until the block ends.

    ``requested`` is a user's name, ``None`` for the default of ``security.md``: the present user,
    or for root a user ``deskhand-NN`` that no other desktop has locked, created when it is missing.
    NN is one of ``numbers``.

    Raises:
        AccountUnavailable: If there is no such user, or none could be created.
    """
    if os.geteuid() != 0:
        own = pwd.getpwuid(os.geteuid())
        if requested not in (None, own.pw_name):
            raise AccountUnavailable(f"only root can work as {requested!r}; this is {own.pw_name}")
        yield Account(own.pw_name, own.pw_uid, own.pw_gid, "shared")
    elif requested is not None:
        yield _existing(requested)
    else:
        with _numbered(locks, numbers) as account:
            yield account


def user_numbers(environment: Mapping[str, str]) -> range:
    """Return the numbers of the users that desktops may run as, from ``DESKHAND_USERS``.

    Raises:
        AccountUnavailable: If the variable holds no range of them.
    """
    text = environment.get("DESKHAND_USERS")
    if not text:
        return NUMBERS
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and NUMBERS[0] <= int(first) <= int(last) < 100):
        raise AccountUnavailable(f"DESKHAND_USERS must be a range from 1-99, not {text!r}")
    return range(int(first), int(last) + 1)


def desktop_users(numbers: Sequence[int] = NUMBERS) -> frozenset[int]:
    """Return the ids of all users that desktops may have run as: this one and the numbered ones."""
    names = {_name(number) for number in numbers}
    return frozenset({os.geteuid()} | {u.pw_uid for u in pwd.getpwall() if u.pw_name in names})


def _name(number: int) -> str:
    return f"deskhand-{number:02}"


def _existing(name: str) -> Account:
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise AccountUnavailable(f"there is no user {name!r} on this machine") from None
    return Account(found.pw_name, found.pw_uid, found.pw_gid, "user" if found.pw_uid else "root")


@contextmanager
def _numbered(locks: Path, numbers: Sequence[int]) -> Iterator[Account]:
    account, lock = lock_numbered(locks, numbers)
    with lock:
        yield account


def lock_numbered(locks: Path, numbers: Sequence[int]) -> tuple[Account, TextIO]:
    """Return a user ``deskhand-NN`` that no other desktop has locked; closing the file unlocks it.

    Raises:
        AccountUnavailable: If all are in use, or it cannot be created.
    """
    locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in numbers:
        name = _name(number)
        with ExitStack() as on_failure:
            lock = on_failure.enter_context((locks / f"{name}.lock").open("w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            _ensure(name)
            account = replace(_existing(name), numbered=True)
            on_failure.pop_all()
            return account, lock
    raise AccountUnavailable(f"all {len(numbers)} desktop users are in use")


def _ensure(name: str) -> None:
    try:
        pwd.getpwnam(name)
    except KeyError:
        pass
    else:
        return
    made = subprocess.run(
        [
            *("useradd", "--system", "--user-group", "--no-create-home"),
            *("--home-dir", "/nonexistent", "--shell", "/bin/bash", name),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    )
    if made.returncode != 0:
        raise AccountUnavailable(f"could not make the user {name}: {made.stderr.strip()}")


def become(account: Account) -> None:
    """Drop irrevocably every privilege that the account does not have."""
    if account.dropped:
        # The order is fixed: without root's rights neither the groups nor the gid can be changed
        # any more.
        os.setgroups(account.groups)
        os.setgid(account.gid)
        os.setuid(account.uid)
        kernel = ctypes.CDLL(None)
        kernel.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        # Commands run as the same user and could read the token in this process's memory. setuid
        # clears the dumpable flag too, but not where fs.suid_dumpable is 1 (proc(5)).
        kernel.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def end_with_parent(parent: int) -> None:
    """Have the kernel send SIGTERM when the parent dies; call after `become`, which resets this.

    If ``parent`` is no longer the parent, it has died already: the signal is sent at once.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)
