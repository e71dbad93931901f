"""Differences between configurations."""

from deskhand.desktop.mcp_client.changes import ServerChanges, changes
from deskhand.desktop.mcp_client.server_entry import ServerEntry

A, B, C = (ServerEntry(name, "stdio", "x") for name in "abc")
CHANGED = ServerEntry("b", "stdio", "y")


def test_only_what_changed_is_connected_and_closed() -> None:
    known = {"a": A, "b": B, "c": C}
    assert changes(known, [A, CHANGED]) == ServerChanges((CHANGED,), ("c",))
    assert changes(known, [A, B, C]) == ServerChanges((), ())
    assert changes({}, [A]) == ServerChanges((A,), ())


def test_failed_servers_are_connected_again() -> None:
    assert changes({"a": A, "b": B}, [A, B], again={"b"}) == ServerChanges((B,), ())
