"""The calls that describe a widget, and their replies, as bytes of the D-Bus protocol. Pure.

A tree of 5,000 widgets takes 25,000 calls. A general library spends 50 µs on each, more than the
application needs to answer it; these five calls have the same bytes but for serial and address.
Source: D-Bus specification, "Message Protocol" and "Type System".
"""

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from .interfaces import ACCESSIBLE, COMPONENT, REPLY_SERIAL, Address

FIELDS = ("name", "role", "states", "children", "rectangle")
"""What the calls ask for, in the order of their serials."""
LARGEST = 16 * 1024 * 1024
"""Bytes of a reply that is read; longer ones are skipped."""

Reply = tuple[int, Any]
"""Serial of the call, and the body: None for an error and for a type that no such call has."""

_PROPERTIES = "org.freedesktop.DBus.Properties"
# ATSPI_COORD_TYPE_SCREEN of atspi-constants.h.
_SCREEN = 0
_CALL, _RETURN, _ERROR = 1, 2, 3
_VERSION = 1
_INTERFACE, _MEMBER, _DESTINATION, _SIGNATURE = 2, 3, 6, 8
_HEADER = struct.Struct("<4BIII")
_NUMBER = struct.Struct("<I")
_FIXED = 16
"""Bytes of a header before its fields: order, type, flags, version, three numbers."""
_BROKEN = (IndexError, UnicodeDecodeError, struct.error)


def calls(address: Address, serial: int) -> bytes:
    """Return the calls of `FIELDS` to a widget; ``serial`` is that of the first one."""
    name, path = address
    object_path = b"\1\1o\0" + _text(path)
    parts: list[bytes] = []
    for number, (fields, body) in enumerate(_constant_parts(name), serial):
        length = len(fields) + len(object_path)
        header = _HEADER.pack(ord("l"), _CALL, 0, _VERSION, len(body), number, length)
        parts += (header, fields, object_path, bytes(-length % 8), body)
    return b"".join(parts)


class ReplyStream:
    """Splits what a bus sends into replies; everything else that it sends is dropped."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._skipped = 0

    def add(self, data: bytes) -> list[Reply]:
        """Return the replies that are complete with these bytes."""
        self._buffer += data[self._skipped :]
        self._skipped = max(0, self._skipped - len(data))
        found: list[Reply] = []
        start = 0
        for end in self._ends():
            reply = _reply(bytes(self._buffer[start:end]))
            if reply is not None:
                found.append(reply)
            start = end
        del self._buffer[:start]
        return found

    def _ends(self) -> Iterator[int]:
        """Yield the end of each complete message."""
        start = 0
        while len(self._buffer) - start >= _FIXED:
            order = "<" if self._buffer[start] == ord("l") else ">"
            body, _, fields = struct.unpack_from(f"{order}III", self._buffer, start + 4)
            size = _FIXED + fields + -fields % 8 + body
            if size > LARGEST:
                missing = size - (len(self._buffer) - start)
                del self._buffer[start : start + size]
                self._skipped = max(0, missing)
                continue
            start += size
            if start > len(self._buffer):
                return
            yield start


def _text(value: str) -> bytes:
    return _NUMBER.pack(len(value)) + value.encode("ascii") + b"\0"


def _aligned(part: bytes, to: int) -> bytes:
    return part + bytes(-len(part) % to)


@lru_cache(maxsize=64)
def _constant_parts(name: str) -> tuple[tuple[bytes, bytes], ...]:
    """Return the fields but the path, and the body, of each call to an application."""
    property_name = _aligned(_text(ACCESSIBLE), 4) + _text("Name")
    wanted = (
        (_PROPERTIES, "Get", "ss", property_name),
        *((ACCESSIBLE, member, "", b"") for member in ("GetRoleName", "GetState", "GetChildren")),
        (COMPONENT, "GetExtents", "u", _NUMBER.pack(_SCREEN)),
    )
    return tuple(
        (_fields(interface, member, name, types), body) for interface, member, types, body in wanted
    )


def _fields(interface: str, member: str, name: str, types: str) -> bytes:
    texts = ((_INTERFACE, interface), (_MEMBER, member), (_DESTINATION, name))
    fields = [bytes((code, 1)) + b"s\0" + _text(text) for code, text in texts]
    if types:
        signature = bytes((len(types),)) + types.encode("ascii") + b"\0"
        fields.append(bytes((_SIGNATURE, 1)) + b"g\0" + signature)
    return b"".join(_aligned(field, 8) for field in fields)


def _reply(message: bytes) -> Reply | None:
    """Return the parts of a reply; None for other messages and for what cannot be parsed."""
    kind = message[1]
    if kind not in (_RETURN, _ERROR):
        return None
    try:
        reader = _Reader(message)
        serial, signature = reader.header_fields()
        if serial is None:
            return None
        return serial, reader.body(signature) if kind == _RETURN else None
    except _BROKEN:
        return None


class _Reader:
    """Reads the values of one message in their order."""

    def __init__(self, message: bytes) -> None:
        order = "<" if message[0] == ord("l") else ">"
        self._number = struct.Struct(f"{order}I")
        self._rectangle = struct.Struct(f"{order}4i")
        self._message = message
        self._at = _FIXED

    def header_fields(self) -> tuple[int | None, str]:
        """Return the serial that is answered and the signature; moves to the body."""
        (length,) = self._number.unpack_from(self._message, self._at - 4)
        end = _FIXED + length
        serial: int | None = None
        types = ""
        while self._at < end:
            self._align(8)
            code = self._message[self._at]
            self._at += 1
            kind = self._types()
            value: object = self._types() if kind == "g" else self._short(kind)
            if code == REPLY_SERIAL and isinstance(value, int):
                serial = value
            elif code == _SIGNATURE and isinstance(value, str):
                types = value
        self._at = end
        self._align(8)
        return serial, types

    def body(self, types: str) -> Any:
        """Return the values of a type that one of the calls has."""
        match types:
            case "s":
                return (self._string(),)
            case "v" if self._types() == "s":
                return (("s", self._string()),)
            case "(iiii)":
                return (self._rectangle.unpack_from(self._message, self._at),)
            case "au":
                length = self._uint()
                return (list(struct.unpack_from(self._words(length), self._message, self._at)),)
            case "a(so)":
                return (self._addresses(),)
        return None

    def _addresses(self) -> list[Address]:
        length = self._uint()
        self._align(8)
        end = self._at + length
        found: list[Address] = []
        while self._at < end:
            self._align(8)
            found.append((self._string(), self._string()))
        return found

    def _words(self, length: int) -> str:
        return f"{self._number.format[0]}{length // 4}I"

    def _short(self, kind: str) -> int | str:
        return self._uint() if kind == "u" else self._string()

    def _align(self, to: int) -> None:
        self._at += -self._at % to

    def _uint(self) -> int:
        self._align(4)
        (value,) = self._number.unpack_from(self._message, self._at)
        self._at += 4
        return int(value)

    def _string(self) -> str:
        length = self._uint()
        start = self._at
        self._at = start + length + 1
        if self._at > len(self._message):
            raise IndexError(start)
        return self._message[start : start + length].decode()

    def _types(self) -> str:
        length = self._message[self._at]
        start = self._at + 1
        self._at = start + length + 1
        return self._message[start : start + length].decode("ascii")
