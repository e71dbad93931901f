"""The users of one desktop, and their names and ids.

Levels. *user*: root starts the desktop, which gets users of its own, ``deskhand-NN``, that no other
desktop has at the same time, or runs as the user that was requested. *shared*: the desktop is
started without privileges and runs as the user who started it. *root*: root requested root.

The users of a numbered desktop are:

* *agent*, ``deskhand-NN``: commands and applications, and the agent helper;
* *service*, ``deskhand-NN-s``: the service, X server, window manager, panel and recordings;
* *browser*, ``deskhand-NN-b``: the browser that the service launches. It is a member of the agent's
  group, so it reads what the agent's programs open to their group. Without namespaces the browser
  has the agent's user, because the configuration of the AT-SPI bus cannot be replaced.

Their ids come from a range that no user database of the machine has to contain: number 1 has the
first three ids after `uid_base`, and so on.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self

from deskhand.desktop.uid_base import DEFAULT_UID_BASE

from .desktop_user import DesktopUser

Level = Literal["shared", "user", "root"]

NUMBERS = range(1, 10_000)
"""Of the users deskhand-NN."""

USERS_PER_NUMBER = 3


@dataclass(frozen=True)
class Account:
    """The users of one desktop; they are all the same where it has no users of its own."""

    agent: DesktopUser
    level: Level
    service: DesktopUser
    browser: DesktopUser
    numbered: bool = False
    """True for users that one desktop uses at a time."""

    @classmethod
    def of_one_user(cls, user: DesktopUser, level: Level, *, numbered: bool = False) -> Self:
        """Return the account of a desktop in which everything runs as one user."""
        return cls(user, level, service=user, browser=user, numbered=numbered)

    @property
    def dropped(self) -> bool:
        """True if the service drops privileges to become its user."""
        return self.level == "user"

    @property
    def separated(self) -> bool:
        """True if the service has another user than the agent."""
        return self.service.uid != self.agent.uid

    @property
    def browser_separated(self) -> bool:
        """True if the browser has another user than the agent."""
        return self.browser.uid != self.agent.uid

    @property
    def uids(self) -> tuple[int, ...]:
        """The ids of all users, each once."""
        return tuple(dict.fromkeys(one.uid for one in (self.agent, self.service, self.browser)))

    def joining(self, group: int | None) -> "Account":
        """Return the account whose agent and browser have one more group; the same for None."""
        if group is None:
            return self
        joined = self.agent._replace(groups=(*self.agent.groups, group))
        if not self.separated:
            return replace(self, agent=joined, service=joined, browser=joined)
        browser = self.browser._replace(groups=(*self.browser.groups, group))
        return replace(self, agent=joined, browser=browser)

    def to_json(self) -> dict[str, Any]:
        """Return the fields for a message; see `from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, message: Mapping[str, Any]) -> Self:
        """Return the account that `to_json` wrote."""
        users = {name: DesktopUser.parse(message[name]) for name in ("agent", "service", "browser")}
        return cls(**{**message, **users})


def numbered_account(
    number: int, base: int = DEFAULT_UID_BASE, *, browser_separated: bool = False
) -> Account:
    """Return the account of the users with one number."""
    first = base + number * USERS_PER_NUMBER
    name = numbered_name(number)
    agent = DesktopUser(name, first, first)
    service = DesktopUser(f"{name}-s", first + 1, first + 1)
    browser = agent
    if browser_separated:
        browser = DesktopUser(f"{name}-b", first + 2, first + 2, groups=(agent.gid,))
    return Account(agent, "user", service, browser, numbered=True)


def numbered_uids(numbers: range, base: int = DEFAULT_UID_BASE) -> range:
    """Return the ids of all users with these numbers."""
    first, end = (base + number * USERS_PER_NUMBER for number in (numbers.start, numbers.stop))
    return range(first, end)


def numbered_name(number: int) -> str:
    """Return the name of the agent's user with a number."""
    return f"deskhand-{number:02}"


@dataclass(frozen=True)
class UserFiles:
    """Contents of ``/etc/passwd`` and ``/etc/group`` as a desktop sees them."""

    passwd: str
    group: str


def user_files(account: Account, home: str, host: UserFiles, browser_home: str = "") -> UserFiles:
    """Return the files of the host with the users of a desktop, unless it knows them already.

    ``browser_home`` is the home of a browser with a user of its own.
    """
    users = {one.name: one for one in (account.agent, account.service, account.browser)}
    homes = {one.name: home for one in users.values()}
    if account.browser_separated:
        homes[account.browser.name] = browser_home or home
    members = {
        one.name: ",".join(other.name for other in users.values() if one.gid in other.groups)
        for one in users.values()
    }
    return UserFiles(
        _completed(
            host.passwd,
            {
                name: f"{name}:x:{one.uid}:{one.gid}:Deskhand desktop:{homes[name]}:/bin/bash"
                for name, one in users.items()
            },
        ),
        _completed(
            host.group,
            {name: f"{name}:x:{one.gid}:{members[name]}" for name, one in users.items()},
        ),
    )


def _completed(text: str, lines: Mapping[str, str]) -> str:
    # Users of the same names, which earlier versions made with useradd, have other ids.
    kept = [line for line in text.splitlines() if line.partition(":")[0] not in lines]
    return "".join(f"{line}\n" for line in (*kept, *lines.values()))
