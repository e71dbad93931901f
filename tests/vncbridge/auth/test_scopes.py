import pytest

from deskhand.vncbridge.auth.scopes import Need, allows, chats_of, desktop_role, need, valid

D = "/api/v0/desktops/d1/desktop"


@pytest.mark.parametrize(
    ("scope", "is_one"),
    [
        ("admin", True),
        ("chat:0b1c-2", True),
        ("desktop:d1:view", True),
        ("desktop:d1:control", True),
        ("run:0b1c:view", True),
        ("run:0b1c:conversation", True),
        ("desktop:d1", False),
        ("desktop:d1:admin", False),
        ("run:0b1c:control", False),
        ("chat:a/b", False),
        ("", False),
    ],
)
def test_what_a_scope_is(scope: str, is_one: bool) -> None:
    assert valid(scope) == is_one


@pytest.mark.parametrize(
    ("path", "reads", "wanted"),
    [
        (f"{D}/vnc", True, Need("desktop", "d1", "view")),
        (f"{D}/lease", True, Need("desktop", "d1", "view")),
        (f"{D}/lease", False, Need("desktop", "d1", "control")),
        (f"{D}/tickets", False, Need("desktop", "d1", "view")),
        (f"{D}/action", False, Need("desktop", "d1", "control")),
        (f"{D}/clipboard", True, Need("desktop", "d1", "control")),
        (f"{D}/secrets", True, Need("admin", "d1", "control")),
        (f"{D}/secrets", False, Need("admin", "d1", "control")),
        (f"{D}/as/cdp/json/list", True, Need("desktop", "d1", "control")),
        (f"{D}/as/osworld/screenshot", True, Need("desktop", "d1", "view")),
        (f"{D}/as/osworld/cursor_position", True, Need("desktop", "d1", "view")),
        (f"{D}/pointer", True, Need("desktop", "d1", "view")),
        (f"{D}/as/osworld/screenshot", False, Need("desktop", "d1", "control")),
        (f"{D}/as/osworld/screen_size", False, Need("desktop", "d1", "view")),
        (f"{D}/as/osworld/execute", False, Need("desktop", "d1", "control")),
        (f"{D}/as/osworld/accessibility", True, Need("desktop", "d1", "control")),
        ("/api/v0/desktops/d1/processes", True, None),
        ("/api/v0/desktops/d1", True, Need("desktop", "d1", "view")),
        ("/api/v0/desktops/d1", False, None),
        ("/api/v0/desktops", True, Need("people", "", "view")),
        ("/desktops/d1", True, Need("desktop", "d1", "view")),
        ("/api/v0/chats/c1", True, Need("chat", "c1", "share")),
        ("/api/v0/chats/c1/events", True, Need("chat", "c1", "share")),
        ("/api/v0/chats/c1/messages", True, Need("chat", "c1", "view")),
        ("/api/v0/chats/c1/messages", False, Need("chat", "c1", "control")),
        ("/api/v0/chats/c1/desktop", True, Need("chat", "c1", "control")),
        ("/api/v0/chats", True, Need("people", "", "view")),
        ("/runs/c1", True, Need("chat", "c1", "share")),
        ("/api/v0/recordings/c1/clip", True, Need("chat", "c1", "share")),
        ("/api/v0/runs/c1/report.html", True, Need("chat", "c1", "share")),
        ("/api/v0/runs/c1/sheet.png", True, Need("chat", "c1", "share")),
        ("/api/v0/runs/c1/trail.png", True, Need("chat", "c1", "share")),
        ("/api/v0/runs/c1/waterfall", True, Need("chat", "c1", "share")),
        ("/api/v0/recordings/c1", False, None),
        ("/api/v0/recordings", True, Need("people", "", "view")),
        ("/api/v0/files/f1", True, Need("file", "f1", "share")),
        ("/api/v0/files/f1", False, Need("file", "f1", "control")),
        ("/api/v0/tools/execute", False, Need("tools", "", "control")),
        ("/logout", False, Need("anyone", "", "view")),
        ("/api/v0/tokens", True, None),
        ("/api/v0/login/codes", False, None),
        ("/mcp", False, Need("mcp", "", "control")),
        ("/mcp/", False, Need("mcp", "", "control")),
        ("/api/v0/stop-all", False, None),
        ("/api/v0/desktops", False, None),
        ("/api/v0/chats", False, Need("people", "", "control")),
        ("/api/v0/chats/c1/interrupt", False, Need("chat", "c1", "stop")),
        ("/api/v0/runs", True, Need("people", "", "view")),
        ("/api/v0/runs/c1/people", True, Need("chat", "c1", "control")),
        ("/api/v0/runs/c1/people/p1", False, Need("chat", "c1", "control")),
        ("/api/v0/runs/c1/pin", False, None),
        ("/api/v0/people", True, None),
        ("/api/v0/people/me", True, Need("anyone", "", "view")),
        ("/", True, Need("people", "", "view")),
    ],
)
def test_what_a_request_needs(path: str, reads: bool, wanted: Need | None) -> None:
    assert need(path, reads=reads) == wanted


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/api/v0/desktop", Need("desktop", "me", "view")),
        ("/api/v0/desktop/vnc", Need("desktop", "me", "view")),
        ("/", Need("desktop", "me", "view")),
        ("/metrics", Need("desktop", "me", "view")),
        ("/mcp", Need("desktop", "me", "control")),
        ("/mcp/", Need("desktop", "me", "control")),
        ("/docs", None),
        ("/api/v0/processes/start", None),
        ("/api/v0/desktop/secrets", Need("admin", "me", "control")),
    ],
)
def test_a_desktop_service_is_judged_as_that_desktop(path: str, wanted: Need | None) -> None:
    assert need(path, reads=True, own_desktop="me") == wanted


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/api/v0/processes/start", Need("desktop", "me", "control")),
        ("/api/v0/read-file", Need("desktop", "me", "control")),
        ("/api/v0/read-file-lines", None),
        ("/api/v0/processes-of-others", None),
        ("/api/v0/tokens", None),
        ("/api/v0/mcp/call-tool", None),
        ("/mcp", Need("desktop", "me", "control")),
        ("/api/v0/desktop/secrets", Need("admin", "me", "control")),
    ],
)
def test_a_dialect_runs_commands_for_who_controls_the_desktop(
    path: str, wanted: Need | None
) -> None:
    assert need(path, reads=False, own_desktop="me", by_dialect=True) == wanted


VIEW, CONTROL = Need("desktop", "d1", "view"), Need("desktop", "d1", "control")
SHARE = Need("chat", "c1", "share")
SEE, STEER = Need("chat", "c1", "view"), Need("chat", "c1", "control")


@pytest.mark.parametrize(
    ("scope", "needed", "family", "good"),
    [
        ("admin", None, (), True),
        ("admin", Need("admin", "d1", "control"), (), True),
        ("desktop:d1:control", Need("admin", "d1", "control"), ("c1",), False),
        ("desktop:d1:view", None, (), False),
        ("desktop:d1:view", VIEW, (), True),
        ("desktop:d2:view", VIEW, (), False),
        ("desktop:d1:view", CONTROL, (), False),
        ("desktop:d1:control", VIEW, (), True),
        ("desktop:d1:control", CONTROL, (), True),
        ("run:c1:view", SHARE, ("c1",), True),
        ("run:c1:view", SHARE, ("c2",), False),
        ("run:c1:view", SEE, ("c1",), False),
        ("run:c1:conversation", SHARE, ("c1",), True),
        ("run:c1:conversation", SEE, ("c1",), True),
        ("run:c1:conversation", SEE, ("c2",), False),
        ("run:c1:conversation", STEER, ("c1",), False),
        ("chat:c1", SHARE, ("c1",), True),
        ("run:c1:view", STEER, ("c1",), False),
        ("run:c1:view", SEE, ("c2",), False),
        ("run:c1:view", VIEW, (), False),
        ("chat:c0", STEER, ("c1", "c0"), True),
        ("chat:c9", SEE, ("c1", "c0"), False),
        ("chat:c1", Need("tools", "", "control"), (), True),
        ("run:c1:view", Need("tools", "", "control"), (), False),
        ("run:c1:view", Need("anyone", "", "view"), (), True),
    ],
)
def test_what_a_scope_is_good_for(
    scope: str, needed: Need | None, family: tuple[str, ...], good: bool
) -> None:
    assert allows((scope,), needed, family) == good


def test_roles_and_chats_are_read_from_scopes() -> None:
    assert desktop_role(("admin",), "d1") == "admin"
    assert desktop_role(("desktop:d1:control",), "d1") == "control"
    assert desktop_role(("desktop:d2:control",), "d1") == "view"
    assert desktop_role(("chat:c1",), "d1") == "control"
    assert chats_of(("chat:c1", "admin", "chat:c2")) == ("c1", "c2")


@pytest.mark.parametrize(
    ("scopes", "needed", "allowed"),
    [
        (("role:member",), Need("people", "", "view"), True),
        (("role:member",), Need("people", "", "control"), True),
        (("role:watcher",), Need("people", "", "view"), True),
        (("role:watcher",), Need("people", "", "control"), False),
        (("role:member",), Need("tools", "", "control"), True),
        (("role:watcher",), Need("tools", "", "control"), False),
        (("role:member",), Need("mcp", "", "control"), False),
        (("chat:c1",), Need("mcp", "", "control"), True),
        (("chat:c1",), Need("people", "", "view"), False),
        (("run:c1:conversation", "run:c1:stop"), Need("chat", "c1", "stop"), True),
        (("run:c1:conversation",), Need("chat", "c1", "stop"), False),
        (("run:c1:stop",), Need("chat", "c1", "control"), False),
        (("chat:c1",), Need("chat", "c1", "stop"), True),
    ],
)
def test_what_roles_and_the_right_to_stop_permit(
    scopes: tuple[str, ...], needed: Need, allowed: bool
) -> None:
    assert allows(scopes, needed, {"c1"}) == allowed


@pytest.mark.parametrize("scope", ["role:member", "role:watcher", "run:c1:stop", "person:p1"])
def test_no_token_gets_the_scopes_of_people(scope: str) -> None:
    assert not valid(scope)
