"""Scopes of credentials, and the scope that each route requires. Pure.

A scope is ``admin``, ``chat:ID`` (tools, files and events of a chat and those below it),
``desktop:ID:control``, ``desktop:ID:view``, ``run:ID:view`` (a run's page, video, steps and report)
or ``run:ID:conversation`` (the same with messages and attached files).
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

ADMIN = "admin"
MEMBER, WATCHER = "role:member", "role:watcher"
"""Scopes of people beside those of the runs that they may see; no token has them."""
SCOPE = re.compile(
    r"admin|chat:[\w-]{1,64}|desktop:[\w-]{1,64}:(control|view)"
    r"|run:[\w-]{1,64}:(view|conversation)"
)

Level = Literal["share", "view", "stop", "control"]
"""``share`` is the part of a run that every share link shows, ``stop`` the end of its turn;
desktops have neither."""
Kind = Literal["desktop", "chat", "file", "tools", "mcp", "people", "anyone", "admin"]
"""``people`` are pages and lists for everyone who has signed in as a person."""


class Need(NamedTuple):
    """The object that a request concerns, and the level of access that it needs."""

    kind: Kind
    id: str
    level: Level


@dataclass(frozen=True)
class Rule:
    """Requests that do not need the scope ``admin``. ``*`` stands for the id."""

    path: str
    kind: Kind
    level: Level
    reads: bool = False
    """True if the rule covers only requests that read."""
    whole: bool = False
    """True if the rule covers only this path, and nothing below it."""


DESKTOP = "/api/v0/desktops/*/desktop"
# The order matters: paths that a viewer may read precede the rule of all that lies below them,
# which requires control.
RULES = (
    Rule("/logout", "anyone", "view", whole=True),
    # A ticket has no other rights than its maker.
    Rule("/api/v0/login/tickets", "anyone", "view", whole=True),
    # Each topic of the socket has a need of its own.
    Rule("/api/v0/live", "anyone", "view", whole=True),
    Rule("/api/v0/status", "anyone", "view", reads=True, whole=True),
    # A page asks what its credential covers, and then only for that.
    Rule("/api/v0/people/me", "anyone", "view", reads=True, whole=True),
    Rule("/desktops/*", "desktop", "view", reads=True, whole=True),
    Rule("/api/v0/desktops/*", "desktop", "view", reads=True, whole=True),
    Rule(DESKTOP, "desktop", "view", reads=True, whole=True),
    Rule(f"{DESKTOP}/vnc", "desktop", "view", whole=True),
    Rule(f"{DESKTOP}/screenshot", "desktop", "view", reads=True, whole=True),
    Rule(f"{DESKTOP}/lease", "desktop", "view", reads=True, whole=True),
    Rule(f"{DESKTOP}/lease/watch", "desktop", "view", whole=True),
    Rule(f"{DESKTOP}/events", "desktop", "view", reads=True, whole=True),
    Rule(f"{DESKTOP}/tickets", "desktop", "view", whole=True),
    *(
        Rule(f"{DESKTOP}/as/osworld/{name}", "desktop", "view", reads=True, whole=True)
        for name in ("screenshot", "platform", "terminal", "cursor_position")
    ),
    # Only its method differs: it changes nothing.
    Rule(f"{DESKTOP}/as/osworld/screen_size", "desktop", "view", whole=True),
    Rule(f"{DESKTOP}/pointer", "desktop", "view", reads=True, whole=True),
    # A credential for one desktop must not clear the masks of its recordings.
    Rule(f"{DESKTOP}/secrets", "admin", "control"),
    Rule(DESKTOP, "desktop", "control"),
    Rule("/desktops/*/recordings/*", "desktop", "control", reads=True, whole=True),
    Rule("/api/v0/chats/*/desktop", "chat", "control", whole=True),
    Rule("/api/v0/chats/*", "chat", "share", reads=True, whole=True),
    Rule("/api/v0/chats/*/events", "chat", "share", reads=True, whole=True),
    Rule("/api/v0/chats/*", "chat", "view", reads=True),
    Rule("/api/v0/chats/*/interrupt", "chat", "stop", whole=True),
    Rule("/api/v0/chats/*", "chat", "control"),
    Rule("/runs/*", "chat", "share", reads=True, whole=True),
    Rule("/api/v0/runs/*/people", "chat", "control"),
    Rule("/api/v0/runs/*", "chat", "share", reads=True, whole=True),
    Rule("/api/v0/runs/*/report.html", "chat", "share", reads=True, whole=True),
    Rule("/api/v0/runs/*/sheet.png", "chat", "share", reads=True, whole=True),
    Rule("/api/v0/runs/*/trail.png", "chat", "share", reads=True, whole=True),
    Rule("/api/v0/runs/*/waterfall", "chat", "share", reads=True, whole=True),
    Rule("/api/v0/recordings/*", "chat", "share", reads=True),
    Rule("/api/v0/files/*", "file", "share", reads=True),
    Rule("/api/v0/files/*", "file", "control"),
    Rule("/api/v0/tools", "tools", "control"),
    Rule("/mcp", "mcp", "control"),
    *(
        Rule(path, "people", "view", reads=True, whole=True)
        for path in (
            *("/", "/runs", "/compare"),
            *("/api/v0/chats", "/api/v0/runs", "/api/v0/recordings", "/api/v0/desktops"),
            "/api/v0/models",
        )
    ),
    Rule("/api/v0/chats", "people", "control", whole=True),
)
"""The first rule that matches applies; without one, only administrators pass."""


class _Pattern(NamedTuple):
    """A rule as requests are compared with it."""

    length: int
    """How many parts a path has, at least or, for a ``whole`` rule, exactly."""
    whole: bool
    fixed: tuple[tuple[int, str], ...]
    """Parts of the path that are not ``*`` and behind its begin, by their position."""
    id_at: int | None
    """Position of the id."""
    kind: Kind
    level: Level

    def match(self, parts: Sequence[str]) -> Need | None:
        """Return what a request to a path with this begin needs; None if the rule is no match."""
        length = len(parts)
        if length < self.length or (self.whole and length > self.length):
            return None
        for position, part in self.fixed:
            if parts[position] != part:
                return None
        return Need(self.kind, "" if self.id_at is None else parts[self.id_at], self.level)


def _begin(parts: Sequence[str]) -> tuple[str, ...]:
    """Return the parts of a path that no rule has a ``*`` for."""
    return tuple(parts[: 4 if parts[1:3] == ["api", "v0"] else 2])


def _pattern(rule: Rule) -> _Pattern:
    parts = rule.path.split("/")
    behind = range(len(_begin(parts)), len(parts))
    fixed = tuple((at, parts[at]) for at in behind if parts[at] != "*")
    id_at = parts.index("*") if "*" in parts else None
    return _Pattern(len(parts), rule.whole, fixed, id_at, rule.kind, rule.level)


def _table(*, reads: bool) -> dict[tuple[str, ...], tuple[_Pattern, ...]]:
    """Return the rules for requests that read, or for others, by the begin of their paths."""
    table: dict[tuple[str, ...], tuple[_Pattern, ...]] = {}
    for rule in RULES:
        if reads or not rule.reads:
            begin = _begin(rule.path.split("/"))
            table[begin] = (*table.get(begin, ()), _pattern(rule))
    return table


_READING, _OTHER = _table(reads=True), _table(reads=False)
"""The rules in their order, prepared for each request."""

DIALECT_CALLS = (
    "/api/v0/append-file",
    "/api/v0/file-status",
    "/api/v0/list-directory",
    "/api/v0/make-directory",
    "/api/v0/processes",
    "/api/v0/read-file",
    "/api/v0/remove-path",
    "/api/v0/write-file",
)
"""What a dialect calls for a client that controls the desktop, with all that lies below it.

A dialect runs commands for its clients and exchanges files with them, which is why its owner has
to enable it. The client itself has no access to these paths.
"""

_SHARED_BY: dict[Level, tuple[str, ...]] = {
    "share": ("view", "conversation"),
    "view": ("conversation",),
    "stop": ("stop",),
    "control": (),
}
"""The kinds of share link that permit a level of access to a run.

There is no link for ``stop``: only people get this scope, with the rights of their role.
"""


def valid(scope: str) -> bool:
    """Return whether there is such a scope."""
    return SCOPE.fullmatch(scope) is not None


def need(path: str, *, reads: bool, own_desktop: str = "", by_dialect: bool = False) -> Need | None:
    """Return what a request needs; ``None`` if only ``admin`` permits it.

    ``own_desktop`` is the id of the desktop that this service is, if it is one. ``by_dialect`` is
    True for a call that a dialect of this desktop makes for its client.
    """
    if by_dialect and any(path == one or path.startswith(f"{one}/") for one in DIALECT_CALLS):
        return Need("desktop", own_desktop, "control")
    if own_desktop:
        # One table of rules serves both services: the desktop's own paths are those of the control
        # plane without their prefix.
        path = _seen_from_outside(path, own_desktop)
    parts = path.split("/")
    for pattern in (_READING if reads else _OTHER).get(_begin(parts), ()):
        found = pattern.match(parts)
        if found is not None:
            return found
    return None


def allows(scopes: Collection[str], needed: Need | None, family: Collection[str] = ()) -> bool:
    """Return whether the scopes of a credential permit a request.

    ``family`` are the chats that the chat or file belongs to: itself and its ancestors.
    """
    if ADMIN in scopes:
        return True
    if needed is None:
        return False
    match needed.kind:
        case "anyone":
            return True
        case "admin":
            return False
        case "tools":
            return bool(chats_of(scopes)) or MEMBER in scopes
        case "mcp":
            # Its clients are programs, which have tokens.
            return bool(chats_of(scopes))
        case "people":
            return MEMBER in scopes or (needed.level == "view" and WATCHER in scopes)
        case "desktop":
            watching = needed.level == "view" and f"desktop:{needed.id}:view" in scopes
            return watching or f"desktop:{needed.id}:control" in scopes
        case _:
            links = _SHARED_BY[needed.level]
            shared = any(f"run:{one}:{link}" in scopes for one in family for link in links)
            return shared or any(f"chat:{one}" in scopes for one in family)


def chats_of(scopes: Collection[str]) -> tuple[str, ...]:
    """Return the chats that a credential is bound to."""
    return tuple(scope.removeprefix("chat:") for scope in scopes if scope.startswith("chat:"))


def desktop_role(scopes: Collection[str], desktop: str) -> Literal["admin", "control", "view"]:
    """Return the level of access that scopes give to a desktop they may see."""
    if ADMIN in scopes:
        return "admin"
    # The credential of a chat may control the chat's desktop.
    driving = f"desktop:{desktop}:control" in scopes or chats_of(scopes)
    return "control" if driving else "view"


def _seen_from_outside(path: str, desktop: str) -> str:
    if path == "/":
        return f"/desktops/{desktop}"
    own, prefix = "/api/v0/desktop", f"/api/v0/desktops/{desktop}/desktop"
    if path == "/metrics":
        return prefix
    if path in ("/mcp", "/mcp/"):
        return f"{prefix}/mcp"
    if path == own or path.startswith(own + "/"):
        return prefix + path.removeprefix(own)
    return path
