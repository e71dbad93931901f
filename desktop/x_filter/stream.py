"""Both directions of one client's connection as streams of bytes. Pure.

Requests are changed on their way to the server, one for one: the sequence numbers of replies stay
right. Of what the server sends one event and two replies are changed: no key is down, and absent
extensions are not listed. Nothing may depend on the replies, as a client that sends 65,536 requests
ahead makes the filter take others for them. See "X Window System Protocol", sections 1 and 8.
"""

import struct
from collections import deque
from collections.abc import Collection, Mapping

from .core_rules import CORE
from .extension_rules import BIG_REQUESTS, EXTENSIONS, query_extension
from .requests import INSPECTED_BYTES, Agents, Rule, XClient, XRequest, allowed, refused

MOST_UNITS = 4_194_303
"""Length of the longest request that an X server of X.Org takes, in units of four bytes."""
MESSAGE_BYTES = 32
"""Of an event, an error, and the fixed part of a reply."""
_HEAD_BYTES, _BIG_HEAD_BYTES, _SETUP_HEAD_BYTES = 4, 8, 8
_QUERY_KEYMAP, _QUERY_EXTENSION, _LIST_EXTENSIONS = 44, 98, 99
_ENABLE = 0
"""Minor opcode of BIG-REQUESTS; with any other the server enables nothing."""
_ERROR, _REPLY, _KEYMAP_NOTIFY, _SELECTION_REQUEST, _GENERIC_EVENT = 0, 1, 11, 30, 35
_SENT = 128
"""Bit of an event that another client has sent."""


class NoXProtocol(ValueError):
    """What a client sends is not the X protocol."""


class FilteredStream:
    """The connection of one client after its setup request.

    ``order`` is that of the client's integers, as `struct` names it. ``opcodes`` are the major
    opcodes of the server's extensions.
    """

    def __init__(
        self,
        order: str,
        agents: Agents,
        opcodes: Mapping[bytes, int],
        denied_selections: Collection[int] = (),
    ) -> None:
        self.client = XClient(order, agents, frozenset(denied_selections))
        self._minor_rules = {
            opcodes[name]: rules for name, rules in EXTENSIONS.items() if name in opcodes
        }
        self._rules = _rules()
        """By opcode; None for a request that passes without a look at it."""
        self._big = opcodes.get(BIG_REQUESTS, -1)
        self._big_enabled = False
        self._little = order == "<"
        self._units = struct.Struct(f"{order}I")
        self._requested = b""
        """Begin of a request whose rest has not come."""
        self._request_left = 0
        self._sequence = 0
        self._answered = b""
        self._answer_left = 0
        self._set_up = False
        self._awaited: deque[tuple[int, int]] = deque()
        """Sequence numbers of requests whose replies are changed, with their opcodes."""

    def close(self) -> None:
        """Forget the client."""
        self.client.agents.bases.discard(self.client.base)

    def to_server(self, received: bytes) -> bytes:
        """Return what the server gets for what the client sent.

        Raises:
            NoXProtocol: If the client does not send requests.
        """
        data = self._requested + received if self._requested else received
        at, end, kept = self._request_left, len(data), 0
        view, parts = memoryview(data), list[bytes | memoryview]()
        while end - at >= _HEAD_BYTES:
            length, head = self._request_length(data, at)
            if not length:
                break
            rule = self._rules[data[at]]
            if rule is not None:
                shown = min(length, head + INSPECTED_BYTES)
                if end - at < shown:
                    break
                changed = self._changed(rule, data[at : at + shown], head, length)
                if changed is not None:
                    parts += (view[kept:at], changed)
                    kept = at + shown
            self._sequence = self._sequence + 1 & 0xFFFF
            at += length
        self._request_left, at = max(0, at - end), min(at, end)
        self._requested = data[at:]
        if not parts and at == end:
            return data
        parts.append(view[kept:at])
        return b"".join(parts)

    def to_client(self, received: bytes) -> bytes:
        """Return what the client gets for what the server sent."""
        data = self._answered + received if self._answered else received
        at, end = self._answer_left, len(data)
        if not self._set_up:
            at = self._read_setup(data)
        changes: list[tuple[int, bytes]] = []
        while self._set_up and end - at >= MESSAGE_BYTES:
            length = self._message_length(data, at)
            if self._concerns(data, at):
                if end - at < length:
                    break
                changed = self._changed_message(data[at : at + length])
                if changed is not None:
                    changes.append((at, changed))
            at += length
        self._answer_left, at = max(0, at - end), min(at, end)
        self._answered = data[at:]
        if not changes:
            return data[:at]
        written = bytearray(data[:at])
        for place, message in changes:
            written[place : place + len(message)] = message
        return bytes(written)

    def _request_length(self, data: bytes, at: int) -> tuple[int, int]:
        """Return the length of a request and of its head; 0 while the latter is not complete."""
        low, high = data[at + 2], data[at + 3]
        units = low | high << 8 if self._little else low << 8 | high
        if units:
            return units << 2, _HEAD_BYTES
        if not self._big_enabled:
            raise NoXProtocol("a request without a length")
        if len(data) - at < _BIG_HEAD_BYTES:
            return 0, _BIG_HEAD_BYTES
        units = self._units.unpack_from(data, at + _HEAD_BYTES)[0]
        # What a server does with another length is not written down: both must agree where the
        # next request begins.
        if not 2 <= units <= MOST_UNITS:
            raise NoXProtocol(f"a request of {units} units")
        return units << 2, _BIG_HEAD_BYTES

    def _changed(self, rule: Rule, shown: bytes, head: int, length: int) -> bytes | None:
        """Return what is sent for the begin of a request that a rule looks at; None for itself."""
        if not self._set_up:
            raise NoXProtocol("a request before the setup")
        opcode, data = shown[0], shown[1]
        if opcode in self._minor_rules:
            rule = self._minor_rules[opcode].get(data, refused)
        if opcode in (_QUERY_KEYMAP, _LIST_EXTENSIONS):
            self._awaited.append((self._sequence + 1 & 0xFFFF, opcode))
        elif opcode == self._big and data == _ENABLE and length == _HEAD_BYTES:
            self._big_enabled = True
        if rule is allowed:
            return None
        request = XRequest(opcode, data, shown[head:], whole=len(shown) == length)
        verdict = rule(self.client, request)
        if verdict is None:
            return None
        units = (length - len(shown) + head + len(verdict.body)) >> 2
        first = bytes((verdict.opcode, verdict.data))
        if head == _HEAD_BYTES:
            return first + self.client.card16.pack(units) + verdict.body
        return first + b"\0\0" + self._units.pack(units) + verdict.body

    def _message_length(self, data: bytes, at: int) -> int:
        if data[at] == _REPLY or data[at] & ~_SENT == _GENERIC_EVENT:
            return MESSAGE_BYTES + (int(self._units.unpack_from(data, at + 4)[0]) << 2)
        return MESSAGE_BYTES

    def _concerns(self, data: bytes, at: int) -> bool:
        kind = data[at]
        if kind <= _REPLY:
            sequence = self.client.card16.unpack_from(data, at + 2)[0]
            return bool(self._awaited) and self._awaited[0][0] == sequence
        return kind == _SELECTION_REQUEST or kind & ~_SENT == _KEYMAP_NOTIFY

    def _changed_message(self, message: bytes) -> bytes | None:
        if message[0] <= _REPLY:
            _, opcode = self._awaited.popleft()
            if message[0] == _ERROR:
                return None
            return _no_keys(message) if opcode == _QUERY_KEYMAP else _without_absent(message)
        if message[0] == _SELECTION_REQUEST:
            # Old clients name no property, and mean that of the target (ICCCM, 2.2).
            name = self.client.id_at(message, 24) or self.client.id_at(message, 20)
            self.client.grant(self.client.id_at(message, 12), name)
            return None
        return message[:1] + bytes(MESSAGE_BYTES - 1)

    def _read_setup(self, data: bytes) -> int:
        """Return the length of the answer to the setup; 0 while it is not complete."""
        if len(data) < _SETUP_HEAD_BYTES:
            return 0
        length = _SETUP_HEAD_BYTES + 4 * self.client.short_at(data, 6)
        if len(data) < length:
            return 0
        client = self.client
        # A client that is refused, or asked for more, has no ids, and sends no request.
        if data[0] == 1:
            self._set_up = True
            client.base, client.mask = client.id_at(data, 12), client.id_at(data, 16)
            screens = _screens(client, data[:length])
            client.roots = frozenset(root for root, _ in screens)
            client.colormap = screens[0][1]
            client.agents.bases.add(client.base)
        return length


def _rules() -> list[Rule | None]:
    """Return the rules by opcode: None for requests that pass, and are not counted."""
    core = [CORE.get(opcode, refused) for opcode in range(128)]
    rules: list[Rule | None] = [None if rule is allowed else rule for rule in core]
    rules[_LIST_EXTENSIONS] = allowed
    rules[_QUERY_EXTENSION] = query_extension
    return rules + [refused] * 128


def _no_keys(reply: bytes) -> bytes:
    # The reply with a colour has the number of colours, too.
    return reply[:8] + bytes(len(reply) - 8)


def _without_absent(reply: bytes) -> bytes:
    """Return a reply to ListExtensions; each name follows its length."""
    changed, at = bytearray(reply), MESSAGE_BYTES
    for _ in range(reply[1]):
        # It may be another reply.
        if at >= len(reply) or (end := at + 1 + reply[at]) > len(reply):
            break
        if reply[at + 1 : end] not in EXTENSIONS:
            changed[at + 1 : end] = b"-" * (end - at - 1)
        at = end
    return bytes(changed)


def _screens(client: XClient, setup: bytes) -> list[tuple[int, int]]:
    """Return the root windows and their colour maps in an answer to a connection setup."""
    vendor, screens, formats = client.short_at(setup, 24), setup[28], setup[29]
    at, found = 40 + vendor + -vendor % 4 + 8 * formats, list[tuple[int, int]]()
    for _ in range(screens):
        found.append((client.id_at(setup, at), client.id_at(setup, at + 4)))
        depths, at = setup[at + 39], at + 40
        for _ in range(depths):
            at += 8 + 24 * client.short_at(setup, at + 2)
    return found
