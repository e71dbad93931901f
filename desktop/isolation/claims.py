"""Choice of the users of a desktop, with a lock so that no other desktop has them meanwhile."""

import fcntl
import os
import pwd
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

from deskhand.desktop.errors import AccountUnavailable
from deskhand.desktop.uid_base import DEFAULT_UID_BASE

from .account import (
    NUMBERS,
    Account,
    numbered_account,
    numbered_name,
    numbered_uids,
)
from .desktop_user import DesktopUser

USER_LOCKS = Path("/var/lib/deskhand/users")
"""One lock for each number that a desktop has, for the whole machine."""

_NUMBERED = re.compile("deskhand-([0-9]+)")


@contextmanager
def claimed(
    requested: str | None,
    locks: Path,
    numbers: Sequence[int] = NUMBERS,
    base: int = DEFAULT_UID_BASE,
) -> Iterator[Account]:
    """Yield the account to use; a numbered one is locked until the block ends.

    ``requested`` is a user's name, ``None`` for the default of ``security.md``: the present user,
    or for root the users with one of ``numbers`` that no other desktop has locked.

    Raises:
        AccountUnavailable: If there is no such user, or all are in use.
    """
    if os.geteuid() != 0:
        own = pwd.getpwuid(os.geteuid())
        if requested not in (None, own.pw_name):
            raise AccountUnavailable(f"only root can work as {requested!r}; this is {own.pw_name}")
        user = DesktopUser(own.pw_name, own.pw_uid, own.pw_gid)
        yield Account.of_one_user(user, "shared")
    elif requested is not None:
        yield _existing(requested)
    else:
        account, lock = lock_numbered(locks, numbers, base)
        with lock:
            yield account


def user_numbers(environment: Mapping[str, str]) -> range:
    """Return the numbers of the users that desktops may have, from ``DESKHAND_USERS``.

    Raises:
        AccountUnavailable: If the variable holds no range of them.
    """
    text = environment.get("DESKHAND_USERS")
    if not text:
        return NUMBERS
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal()):
        raise _no_range(text)
    if not NUMBERS[0] <= int(first) <= int(last) <= NUMBERS[-1]:
        raise _no_range(text)
    return range(int(first), int(last) + 1)


def desktop_users(numbers: range = NUMBERS, base: int = DEFAULT_UID_BASE) -> frozenset[int]:
    """Return the ids of all users that desktops may have run as: this one and the numbered ones.

    Earlier versions made numbered users with useradd; their ids are included.
    """
    made = {
        user.pw_uid
        for user in pwd.getpwall()
        if (found := _NUMBERED.fullmatch(user.pw_name)) and int(found[1]) in numbers
    }
    return frozenset({os.geteuid(), *made, *numbered_uids(numbers, base)})


def lock_numbered(
    locks: Path,
    numbers: Sequence[int],
    base: int = DEFAULT_UID_BASE,
    *,
    browser_separated: bool = False,
) -> tuple[Account, TextIO]:
    """Return users that no other desktop has locked; closing the file unlocks them.

    With ``browser_separated`` the browser has a user of its own.

    Raises:
        AccountUnavailable: If all are in use.
    """
    locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in numbers:
        with ExitStack() as on_failure:
            path = locks / f"{numbered_name(number)}.lock"
            lock = on_failure.enter_context(path.open("w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            on_failure.pop_all()
            account = numbered_account(number, base, browser_separated=browser_separated)
            return account, lock
    raise AccountUnavailable(f"all {len(numbers)} desktop users are in use")


def _existing(name: str) -> Account:
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise AccountUnavailable(f"there is no user {name!r} on this machine") from None
    user = DesktopUser(found.pw_name, found.pw_uid, found.pw_gid)
    return Account.of_one_user(user, "user" if found.pw_uid else "root")


def _no_range(text: str) -> AccountUnavailable:
    return AccountUnavailable(
        f"DESKHAND_USERS must be a range from {NUMBERS[0]}-{NUMBERS[-1]}, not {text!r}"
    )
