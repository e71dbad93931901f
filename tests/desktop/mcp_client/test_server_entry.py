"""Digest and summary of an entry."""

from dataclasses import replace

from deskhand.desktop.mcp_client.server_entry import ServerEntry

ENTRY = ServerEntry("notes", "stdio", "notes", ("--db", "x"), (("TOKEN", "hunter2"),))


def test_every_field_changes_the_digest() -> None:
    others = (
        replace(ENTRY, name="other"),
        replace(ENTRY, command="other"),
        replace(ENTRY, args=("--db x",)),
        replace(ENTRY, env=(("TOKEN", "other"),)),
        replace(ENTRY, transport="http", url="http://other"),
        replace(ENTRY, headers=(("a", "b"),)),
    )
    assert len({one.digest for one in (ENTRY, *others)}) == 1 + len(others)
    assert replace(ENTRY).digest == ENTRY.digest


def test_a_summary_has_names_of_variables_without_values() -> None:
    assert ENTRY.summary == "notes --db x (TOKEN=…)"
    assert ServerEntry("web", "http", url="http://x/mcp").summary == "http://x/mcp"


def test_a_summary_of_an_address_has_no_secrets() -> None:
    for url, summary in (
        ("https://x/mcp?key=a&b=c", "https://x/mcp?key=…&b=…"),
        ("https://ann:pass@x:8/", "https://ann:…@x:8/"),
        ("http://ann@x", "http://ann@x"),
    ):
        entry = ServerEntry("web", "http", url=url, headers=(("X-Key", "hunter2"),))
        assert entry.summary == f"{summary} (X-Key=…)"
