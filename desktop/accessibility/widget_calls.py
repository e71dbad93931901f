"""The calls that describe a widget, and their replies, as bytes of the D-Bus protocol. Pure.

A tree of 5,000 widgets takes 25,000 calls. A general library spends 50 µs on each, more than the
application needs to answer it; these five calls have the same bytes but for serial and address.
Source: D-Bus specification, "Message Protocol" and "Type System".
"""

import struct
from functools import lru_cache
from typing import Any

from .interfaces import ACCESSIBLE, COMPONENT, REPLY_SERIAL, Address
from .message_splitter import FIXED, MessageSplitter, RawMessage

FIELDS = ("name", "role", "states", "children", "rectangle")
"""What the calls ask for, in the order of their serials."""

Reply = tuple[int, Any]
"""Serial of the call, and the body: None for an error, for a type that no such call has, and for a
message that was too long."""

_PROPERTIES = "org.freedesktop.DBus.Properties"
# ATSPI_COORD_TYPE_SCREEN of atspi-constants.h.
_SCREEN = 0
_CALL, _RETURN, _ERROR = 1, 2, 3
_VERSION = 1
_INTERFACE, _MEMBER, _DESTINATION, _SIGNATURE = 2, 3, 6, 8
_HEADER = struct.Struct("<4BIII")
_NUMBER = struct.Struct("<I")
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

    def __init__(self, splitter: MessageSplitter | None = None) -> None:
        """Continue with what a splitter has buffered."""
        self._splitter = splitter or MessageSplitter()
        self.shortened = False
        """True if a reply was too long."""

    def add(self, data: bytes) -> list[Reply]:
        """Return the replies that are complete with these bytes."""
        found: list[Reply] = []
        for message in self._splitter.add(data):
            reply = _reply(message)
            if reply is not None:
                found.append(reply)
                self.shortened |= not message.whole
        return found


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


def _reply(message: RawMessage) -> Reply | None:
    """Return the parts of a reply; None for other messages and for what cannot be parsed."""
    kind = message.data[1]
    if kind not in (_RETURN, _ERROR):
        return None
    try:
        reader = _Reader(message.data)
        serial, signature = reader.header_fields()
        if serial is None:
            return None
        has_body = kind == _RETURN and message.whole
        return serial, reader.body(signature) if has_body else None
    except _BROKEN:
        return None


class _Reader:
    """Reads the values of one message in their order."""

    def __init__(self, message: bytes) -> None:
        order = "<" if message[0] == ord("l") else ">"
        self._number = struct.Struct(f"{order}I")
        self._rectangle = struct.Struct(f"{order}4i")
        self._message = message
        self._at = FIXED

    def header_fields(self) -> tuple[int | None, str]:
        """Return the serial that is answered and the signature; moves to the body."""
        (length,) = self._number.unpack_from(self._message, self._at - 4)
        end = FIXED + length
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
