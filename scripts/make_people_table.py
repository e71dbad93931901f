"""Write the table of docs/people.md: each route, and the roles that may use it.

Usage: python -m scripts.make_people_table. The routes are those of the inventories in
`tests/data/operations`, which tests compare with the services; an attack test tries each of them.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from deskhand.tools.control_plane.proxy.rules import PREFIXES
from deskhand.tools.people.rights import SharedRun, granted_scopes
from deskhand.vncbridge.auth.people import PersonRole, SignedInPerson, credential_of
from deskhand.vncbridge.auth.policy import SAFE_METHODS, is_open
from deskhand.vncbridge.auth.scopes import Need, allows, need

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "people.md"
INVENTORIES = ROOT / "tests" / "data" / "operations"
BEGIN, END = "<!-- routes -->", "<!-- end of routes -->"
OTHERS = (
    *(
        "GET /",
        "GET /runs",
        "GET /compare",
        "GET /system",
        "GET /runs/{chat_id}",
        "GET /desktops/{desktop_id}",
        "GET /desktops/{desktop_id}/recordings/{recording_id}",
        "GET /login",
    ),
    *(
        "GET /docs",
        "GET /try",
        "GET /openapi.json",
        "GET /assets/{name}",
        "GET /viewer/{name}",
        "POST /mcp",
    ),
    *("GET /login/oidc", "GET /login/oidc/callback"),
    *("WEBSOCKET /api/v0/live", "WEBSOCKET /api/v0/chats/{chat_id}/desktop"),
    "WEBSOCKET /api/v0/chats/{chat_id}/git/watch",
    "WEBSOCKET /api/v0/desktops/{desktop_id}/desktop/vnc",
    "WEBSOCKET /api/v0/desktops/{desktop_id}/desktop/lease/watch",
)
"""Pages and WebSockets, which have no operation."""

PERSON, RUN = "p", "x"
COLUMNS: tuple[tuple[str, PersonRole, bool], ...] = (
    ("owner", "owner", False),
    ("member, own run", "member", True),
    ("member, shared run", "member", False),
    ("watcher, shared run", "watcher", False),
)
"""Title, role, and whether the run is the person's own or shared."""


def routes() -> list[str]:
    """Return method and path of each route, those of desktops below the control plane too."""
    plane = json.loads((INVENTORIES / "control_plane.json").read_text())
    desktop = json.loads((INVENTORIES / "desktop.json").read_text())
    return sorted({*plane, *OTHERS, *_proxied(desktop)}, key=lambda one: one.split()[::-1])


def permits(route: str, role: PersonRole, *, own: bool | None) -> bool:
    """Return whether a role may use a route for an own or a shared run; None: a foreign one."""
    method, path = route.split()
    path = re.sub(r"{\w+}", RUN, path)
    if is_open(path):
        return True
    needed = need(path, reads=method in SAFE_METHODS)
    scopes = SignedInPerson(PERSON, "Ada", role).scopes
    if needed is not None:
        run = SharedRun(
            RUN,
            credential_of(PERSON) if own else "owner",
            frozenset() if own is None else frozenset({PERSON}),
        )
        scopes = (*scopes, *granted_scopes(PERSON, scopes, needed, [run]))
    return allows(scopes, needed, _family(needed))


def table() -> str:
    """Return the table in Markdown."""
    head = ["route", *(title for title, _, _ in COLUMNS)]
    lines = [f"| {' | '.join(head)} |", f"|---|{':---:|' * len(COLUMNS)}"]
    for route in routes():
        marks = ["yes" if permits(route, role, own=own) else "" for _, role, own in COLUMNS]
        lines.append(f"| `{route}` | {' | '.join(marks)} |")
    return "\n".join(lines)


def page() -> str:
    """Return the page with the table as it must be."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def _family(needed: Need | None) -> frozenset[str]:
    return (
        frozenset({RUN}) if needed is not None and needed.kind in ("chat", "file") else frozenset()
    )


def _proxied(desktop: dict[str, str]) -> Iterator[str]:
    for route in desktop:
        method, path = route.split()
        below = path.removeprefix("/api/v0/")
        if path.startswith("/api/v0/") and below.split("/")[0] in PREFIXES:
            yield f"{method} /api/v0/desktops/{{desktop_id}}/{below}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
