"""Parsing of `.mcp.json`."""

import json
from typing import Any

import pytest

from deskhand.desktop.mcp_client.config_file import (
    LARGEST_FILE,
    MOST_SERVERS,
    BadEntry,
    McpConfig,
    parse_files,
)
from deskhand.desktop.mcp_client.server_entry import ServerEntry


def parsed(servers: Any) -> McpConfig:
    return parse_files([("/data/.mcp.json", json.dumps({"mcpServers": servers}).encode())])


def reason(definition: Any, name: str = "one") -> str:
    """Why an entry is refused, beside one that is good."""
    config = parsed({name: definition, "good": {"command": "true"}})
    assert [entry.name for entry in config.entries] == ["good"]
    (bad,) = config.bad
    assert bad.name == name
    return bad.reason


def test_servers_are_sorted_and_complete() -> None:
    config = parsed(
        {
            "web": {"url": "https://example.com/mcp", "headers": {"B": "2", "A": "1"}},
            "notes": {"command": "notes", "args": ["-x"], "env": {"K": "${V}"}},
            "old": {"type": "sse", "url": "http://example.com/sse"},
        }
    )
    assert config.entries == (
        ServerEntry("notes", "stdio", "notes", ("-x",), (("K", "${V}"),)),
        ServerEntry("old", "sse", url="http://example.com/sse"),
        ServerEntry("web", "http", url="https://example.com/mcp", headers=(("A", "1"), ("B", "2"))),
    )
    assert config.bad == ()


def test_an_explicit_type_wins_over_a_command() -> None:
    both = {"type": "http", "command": "x", "url": "http://example.com"}
    (entry,) = parsed({"one": both}).entries
    assert (entry.transport, entry.command) == ("http", "")


def test_a_file_without_servers_has_none() -> None:
    assert parse_files([("a", b"{}")]) == McpConfig()
    assert parse_files([]) == McpConfig()


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ([], "the definition is not an object"),
        ({}, "it has no command or url"),
        ({"type": "pipe"}, "unsupported transport 'pipe': use stdio, http or sse"),
        ({"type": "stdio", "url": "http://x"}, "a server of type stdio needs a command"),
        (
            {"url": "file:///etc/passwd"},
            "a server of type http needs a url that begins with http(s)://",
        ),
        ({"command": 7}, "command is not a string"),
        ({"command": "a\0b"}, "command has a character that cannot be passed on"),
        ({"command": "a", "args": ["\ud800"]}, "args has a character that cannot be passed on"),
        ({"command": "a", "args": "b"}, "args is not a list of strings"),
        ({"command": "a", "args": [1]}, "args is not a list of strings"),
        ({"command": "a", "env": {"A": 1}}, "env is not an object of strings"),
        ({"command": "a", "env": []}, "env is not an object of strings"),
        ({"command": "a", "env": {"A=B": "c"}}, "env has the unusable name 'A=B'"),
        ({"url": "http://x", "headers": {"": "c"}}, "headers has the unusable name ''"),
    ],
)
def test_a_bad_entry_is_reported_alone(definition: Any, expected: str) -> None:
    assert reason(definition) == expected


def test_a_bad_name_is_reported() -> None:
    assert reason({"command": "x"}, "a__b") == "a name has no __ and no _ at its ends"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[]", "the file has no JSON object"),
        (b'{"mcpServers": 1}', "mcpServers is not an object"),
        (b" " * (LARGEST_FILE + 1), f"the file is larger than {LARGEST_FILE} bytes"),
    ],
)
def test_a_malformed_file_is_reported_and_others_are_used(content: bytes, expected: str) -> None:
    good = b'{"mcpServers": {"good": {"command": "true"}}}'
    config = parse_files([("first", content), ("second", good)])
    assert config.bad == (BadEntry("first", expected),)
    assert [entry.name for entry in config.entries] == ["good"]


@pytest.mark.parametrize("content", [b"{", b"[" * 100_000, b"\xff"])
def test_a_file_that_is_no_json_is_reported(content: bytes) -> None:
    (bad,) = parse_files([("first", content)]).bad
    assert bad.reason.startswith("the file is not JSON: ")


def test_the_first_definition_of_a_name_wins() -> None:
    twice = b'{"mcpServers": {"a": {"command": "1"}, "a": {"command": "2"}}}'
    config = parse_files([("first", twice), ("second", twice.replace(b'"1"', b'"3"'))])
    assert [entry.command for entry in config.entries] == ["1"]
    assert config.bad == ()


def test_servers_beyond_the_limit_are_reported() -> None:
    config = parsed({f"s{number:03}": {"command": "x"} for number in range(MOST_SERVERS + 1)})
    assert len(config.entries) == MOST_SERVERS
    assert config.bad == (BadEntry(f"s{MOST_SERVERS:03}", "there are more than 64 servers"),)
