"""Parsing of ``.mcp.json``: each bad entry is reported alone, the others are used. Pure.

The file has one object, ``mcpServers``, with an object for each server: ``command``, ``args`` and
``env``, or ``url`` and ``headers``, and optionally ``type``. The first definition of a name wins,
within a file and across files.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from .server_entry import Pairs, ServerEntry, Transport
from .tool_names import name_problem

LARGEST_FILE = 1024 * 1024
"""Bytes of a file that is read."""
MOST_SERVERS = 64
"""Servers of all files together."""
TRANSPORTS: tuple[Transport, ...] = get_args(Transport)


@dataclass(frozen=True)
class BadEntry:
    """An entry, or a whole file, that is not used."""

    name: str
    """Name of the server; of a file its path."""
    reason: str


@dataclass(frozen=True)
class McpConfig:
    """The servers of all files, sorted by name, and what is wrong in the files."""

    entries: tuple[ServerEntry, ...] = ()
    bad: tuple[BadEntry, ...] = ()


class _Wrong(Exception):
    """An entry cannot be used."""


def parse_files(files: Iterable[tuple[str, bytes]]) -> McpConfig:
    """Return the configuration of files, given as path and content; the first are preferred."""
    found: dict[str, ServerEntry] = {}
    bad: list[BadEntry] = []
    for path, content in files:
        try:
            servers = _servers(content)
        except _Wrong as wrong:
            bad.append(BadEntry(path, str(wrong)))
            continue
        for name, definition in servers:
            if name in found:
                continue
            try:
                entry = _entry(name, definition)
                if len(found) == MOST_SERVERS:
                    raise _Wrong(f"there are more than {MOST_SERVERS} servers")
                found[name] = entry
            except _Wrong as wrong:
                bad.append(BadEntry(name, str(wrong)))
    entries = tuple(sorted(found.values(), key=lambda entry: entry.name))
    return McpConfig(entries, tuple(sorted(bad, key=lambda one: one.name)))


def _servers(content: bytes) -> tuple[tuple[str, Any], ...]:
    """Return the definitions in the order of the file."""
    if len(content) > LARGEST_FILE:
        raise _Wrong(f"the file is larger than {LARGEST_FILE} bytes")
    try:
        whole = json.loads(content, object_pairs_hook=_Pairs)
    # RecursionError: thousands of nested brackets.
    except (ValueError, RecursionError) as error:
        raise _Wrong(f"the file is not JSON: {error}") from error
    if not isinstance(whole, _Pairs):
        raise _Wrong("the file has no JSON object")
    servers = whole.first().get("mcpServers", _Pairs())
    if not isinstance(servers, _Pairs):
        raise _Wrong("mcpServers is not an object")
    return tuple(servers)


class _Pairs(tuple[tuple[str, Any], ...]):
    """Fields of a JSON object; Python's own reader would keep the last of two equal names."""

    __slots__ = ()

    def first(self) -> dict[str, Any]:
        return dict(reversed(self))


def _entry(name: str, definition: Any) -> ServerEntry:
    if problem := name_problem(name):
        raise _Wrong(problem)
    if not isinstance(definition, _Pairs):
        raise _Wrong("the definition is not an object")
    fields = definition.first()
    command, url = _text(fields, "command"), _text(fields, "url")
    transport = _transport(_text(fields, "type"), command, url)
    if transport == "stdio":
        if not command:
            raise _Wrong("a server of type stdio needs a command")
        return ServerEntry(name, transport, command, _texts(fields, "args"), _pairs(fields, "env"))
    if not url.startswith(("http://", "https://")):
        raise _Wrong(f"a server of type {transport} needs a url that begins with http(s)://")
    return ServerEntry(name, transport, url=url, headers=_pairs(fields, "headers"))


def _transport(named: str, command: str, url: str) -> Transport:
    if named:
        for transport in TRANSPORTS:
            if named == transport:
                return transport
        raise _Wrong(f"unsupported transport {named[:40]!r}: use stdio, http or sse")
    if command:
        return "stdio"
    if url:
        return "http"
    raise _Wrong("it has no command or url")


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _Wrong(f"{key} is not a string")
    return _checked(key, value)


def _checked(key: str, value: str) -> str:
    # Neither execve(2) nor a header can carry these.
    if "\0" in value or any("\ud800" <= one <= "\udfff" for one in value):
        raise _Wrong(f"{key} has a character that cannot be passed on")
    return value


def _texts(fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = fields.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _Wrong(f"{key} is not a list of strings")
    return tuple(_checked(key, one) for one in value)


def _pairs(fields: Mapping[str, Any], key: str) -> Pairs:
    value = fields.get(key)
    if value is None:
        return ()
    if not isinstance(value, _Pairs) or not all(isinstance(one, str) for _, one in value):
        raise _Wrong(f"{key} is not an object of strings")
    pairs = value.first()
    for name in pairs:
        if not name or "=" in name:
            raise _Wrong(f"{key} has the unusable name {name[:40]!r}")
    return tuple(sorted((_checked(key, name), _checked(key, pairs[name])) for name in pairs))
