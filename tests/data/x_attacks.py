"""A client that speaks the X protocol itself and tries what a hostile one would try.

Usage: python3 x_attacks.py (all | keys | held | clients) SOCKET [COOKIE]. It prints, as JSON, for
each attack whether it succeeded. The system's Python runs it. Requests are those of "X Window
System Protocol", appendix B.
"""

import json
import select
import socket
import struct
import sys

NAME = b"MIT-MAGIC-COOKIE-1"
ABSENT = ("XTEST", "RECORD", "SECURITY", "VNC-EXTENSION", "MIT-SHM", "Composite", "DAMAGE")
MARK = 0xFF00FF
"""A colour that the screen shows."""


class XError(Exception):
    """The server answered with an error."""


class Client:
    """A connection, by whose id of a resource others can tell whose it is."""

    def __init__(self, path: str, cookie: bytes = b"") -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10)
        self.socket.connect(path)
        name = NAME if cookie else b""
        head = struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(name), len(cookie))
        self.socket.sendall(head + padded(name) + padded(cookie))
        accepted, reason, units = struct.unpack("<BB4xH", self.exactly(8))
        body = self.exactly(4 * units)
        if accepted != 1:
            raise ConnectionRefusedError(body[:reason].decode())
        self.base, self.mask = number(body, 4), number(body, 8)
        (vendor,) = struct.unpack_from("<H", body, 16)
        at = 32 + vendor + -vendor % 4 + 8 * body[21]
        self.root = struct.unpack_from("<I", body, at)[0]
        self.width, self.height = struct.unpack_from("<HH", body, at + 20)
        self.visual = struct.unpack_from("<I", body, at + 32)[0]
        self.sequence = self.made = 0

    def exactly(self, length: int) -> bytes:
        found = b""
        while len(found) < length:
            piece = self.socket.recv(length - len(found))
            if not piece:
                raise ConnectionError("the server hung up")
            found += piece
        return found

    def send(self, opcode: int, data: int, body: bytes) -> None:
        body = padded(body)
        self.socket.sendall(struct.pack("<BBH", opcode, data, 1 + len(body) // 4) + body)
        self.sequence = self.sequence + 1 & 0xFFFF

    def ask(self, opcode: int, data: int = 0, body: bytes = b"") -> bytes:
        """Send a request and return its reply; events are left out."""
        self.send(opcode, data, body)
        while True:
            message = self.exactly(32)
            if message[0] == 1 or message[0] & 127 == 35:
                message += self.exactly(4 * struct.unpack_from("<I", message, 4)[0])
            if struct.unpack_from("<H", message, 2)[0] != self.sequence:
                continue
            if message[0] == 0:
                raise XError(message[1])
            if message[0] == 1:
                return message

    def new(self) -> int:
        self.made += 1
        return self.base + self.made

    def sync(self) -> int:
        """Return the focus, once all requests are done."""
        return number(self.ask(43), 8)

    def atom(self, name: str) -> int:
        body = struct.pack("<HH", len(name), 0) + name.encode()
        return number(self.ask(16, 0, body), 8)

    def opcode(self, name: str) -> int | None:
        body = struct.pack("<HH", len(name), 0) + name.encode()
        present, opcode = struct.unpack_from("8xBB", self.ask(98, 0, body))
        return opcode if present else None

    def others(self) -> list[int]:
        """Return windows of other clients, the root window's children first."""
        found: list[int] = []
        todo = [self.root]
        while todo:
            try:
                answer = self.ask(15, 0, struct.pack("<I", todo.pop(0)))
            except XError:
                continue
            count = struct.unpack_from("<H", answer, 16)[0]
            children = struct.unpack_from(f"<{count}I", answer, 32)
            todo += children
            found += [one for one in children if one & ~self.mask not in (self.base, 0)]
        return found

    def window(
        self,
        parent: int | None = None,
        values: bytes = b"",
        mask: int = 0,
        size: tuple[int, int] = (60, 60),
        kind: int = 1,
    ) -> int:
        window = self.new()
        body = struct.pack(
            "<IIhhHHHHII", window, parent or self.root, 0, 0, *size, 0, kind, 0, mask
        )
        self.send(1, 0, body + values)
        return window

    def pixmap(self) -> int:
        """Return a black pixmap of the size of the screen."""
        pixmap, context = self.new(), self.new()
        self.send(53, 24, struct.pack("<IIHH", pixmap, self.root, self.width, self.height))
        self.send(55, 0, struct.pack("<III", context, pixmap, 0))
        whole = struct.pack("<hhHH", 0, 0, self.width, self.height)
        self.send(70, 0, struct.pack("<II", pixmap, context) + whole)
        return pixmap

    def shows_mark(self, drawable: int) -> bool:
        """Return True if the picture of a drawable contains the colour."""
        try:
            size = struct.unpack_from("<HH", self.ask(14, 0, struct.pack("<I", drawable)), 16)
            body = struct.pack("<IhhHHI", drawable, 0, 0, *size, 0xFFFFFFFF)
            pixels = self.ask(73, 2, body)[32:]
        except XError:
            return False
        return MARK in {one & 0xFFFFFF for one in memoryview(pixels).cast("I")}

    def copied(self, source: int) -> bool:
        """Return True if a copy of a drawable, with all windows in it, contains the colour."""
        target, context = self.pixmap(), self.new()
        # Subwindow mode IncludeInferiors
        self.send(55, 0, struct.pack("<IIII", context, target, 1 << 15, 1))
        size = struct.pack("<hhhhHH", 0, 0, 0, 0, self.width, self.height)
        self.send(62, 0, struct.pack("<III", source, target, context) + size)
        return self.shows_mark(target)

    def rendered(self, source: int) -> bool:
        """The same, with the extension RENDER."""
        render = self.opcode("RENDER")
        if render is None:
            return False
        answer = self.ask(render, 1)
        formats, at = struct.unpack_from("<I", answer, 8)[0], 32
        for _ in range(formats):
            found, kind, depth = struct.unpack_from("<IBB", answer, at)
            if kind == 1 and depth == 24:
                wanted = found
                break
            at += 28
        target = self.pixmap()
        pictures = self.new(), self.new()
        for picture, drawable in zip(pictures, (source, target), strict=True):
            values = struct.pack("<II", 1 << 8, 1)
            self.send(render, 4, struct.pack("<III", picture, drawable, wanted) + values)
        body = struct.pack("<BxxxIII", 1, pictures[0], 0, pictures[1])
        body += struct.pack("<hhhhhhHH", 0, 0, 0, 0, 0, 0, self.width, self.height)
        self.send(render, 8, body)
        return self.shows_mark(target)


def number(data: bytes, offset: int) -> int:
    return int(struct.unpack_from("<I", data, offset)[0])


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def key_events(client: Client) -> None:
    """Send the key A to every window of others."""
    for window in client.others():
        for kind in (2, 3):
            event = struct.pack(
                "<BBHIIIIhhhhHBx",
                *(kind, 38, 0, 0, client.root, window, 0, 1, 1, 1, 1, 0, 1),
            )
            client.send(25, 0, struct.pack("<II", window, 0) + event)
    client.sync()


def covering(client: Client) -> bool:
    """Map a window without a background over everything, and read what is in it."""
    values = struct.pack("<I", 1)
    window = client.window(values=values, mask=1 << 9, size=(client.width, client.height))
    client.send(8, 0, struct.pack("<I", window))
    client.sync()
    found = [client.shows_mark(window), client.copied(window), client.rendered(window)]
    client.send(4, 0, struct.pack("<I", window))
    return any(found)


def covered(client: Client) -> bool:
    """Map a window below all others, and read what covers it."""
    values = struct.pack("<II", 0, 1)
    mask = 1 << 1 | 1 << 9
    window = client.window(values=values, mask=mask, size=(client.width, client.height))
    # Stack mode Below
    client.send(12, 0, struct.pack("<IHHI", window, 1 << 6, 0, 1))
    client.send(8, 0, struct.pack("<I", window))
    client.sync()
    found = [client.shows_mark(window), client.rendered(window)]
    client.send(4, 0, struct.pack("<I", window))
    return any(found)


def disguised(client: Client) -> bool:
    """Name a window a pixmap, and read it."""
    values = struct.pack("<I", 1)
    window = client.window(values=values, mask=1 << 9, size=(client.width, client.height))
    client.send(53, 24, struct.pack("<IIHH", window, client.root, 8, 8))
    client.send(8, 0, struct.pack("<I", window))
    return client.shows_mark(window)


def writes(client: Client, window: int) -> bool:
    """Write a property of a window, and say whether it is there."""
    name = client.atom("DESKHAND_ATTACK")
    client.send(18, 0, struct.pack("<IIIBxxxI", window, name, 31, 8, 4) + b"text")
    answer = client.ask(20, 0, struct.pack("<IIIII", window, name, 0, 0, 1))
    return answer[1] != 0


def grabs_server(client: Client, other: Client) -> bool:
    client.send(36, 0, b"")
    client.sync()
    other.send(43, 0, b"")
    answered = bool(select.select([other.socket], [], [], 1)[0])
    client.send(37, 0, b"")
    other.exactly(32)
    return not answered


def child_of_another(client: Client) -> bool:
    for parent in client.others():
        window = client.window(parent, kind=2)
        try:
            client.ask(14, 0, struct.pack("<I", window))
        except XError:
            continue
        return True
    return False


def changes_keys(client: Client) -> bool:
    # Keycode 38, one keysym: that of 0
    client.send(100, 1, struct.pack("<BBHI", 38, 1, 0, 0x30))
    return number(client.ask(101, 0, struct.pack("<BBH", 38, 1, 0)), 32) == 0x30


def manages(client: Client) -> bool:
    name, window = client.atom("WM_S0"), client.window()
    client.send(22, 0, struct.pack("<III", window, name, 0))
    return number(client.ask(23, 0, struct.pack("<I", name)), 8) == window


def focuses(client: Client) -> bool:
    before = client.sync()
    for window in client.others():
        client.send(42, 0, struct.pack("<II", window, 0))
        # The last one may have had the focus before.
        if client.sync() != before:
            return True
    return False


def admits(client: Client) -> bool:
    before = client.ask(110)[8:]
    address = b"localuser\0#12345"
    client.send(109, 0, struct.pack("<BxH", 5, len(address)) + address)
    return client.ask(110)[8:] != before


def kills(client: Client) -> bool:
    before = client.others()
    for window in before:
        for opcode in (113, 4, 10):
            client.send(opcode, 0, struct.pack("<I", window))
    client.sync()
    return client.others() != before


def held_keys(client: Client) -> dict[str, bool]:
    """Say whether a key is down, also when another reply has the same sequence number."""
    plain, disguised = client.ask(44)[9:], b""
    for _ in range(10):
        client.send(43, 0, b"")
        client.socket.sendall(struct.pack("<BxH", 127, 1) * 65_535)
        client.send(44, 0, b"")
        client.exactly(32)
        disguised += client.exactly(40)[9:]
    return {"plain": any(plain), "disguised": any(disguised)}


def crowd(path: str, cookie: bytes) -> tuple[int, str]:
    """Connect until a client is refused; return the number of clients and the reason."""
    clients: list[Client] = []
    while True:
        try:
            clients.append(Client(path, cookie))
        except OSError as error:
            return len(clients), str(error)


def main() -> None:
    mode, path, cookie = sys.argv[1], sys.argv[2], bytes.fromhex("".join(sys.argv[3:]))
    client = Client(path, cookie)
    if mode == "keys":
        key_events(client)
    elif mode == "held":
        print(json.dumps(held_keys(client)))
    elif mode == "clients":
        print(json.dumps(crowd(path, cookie)))
    else:
        print(json.dumps(attacks(client, Client(path, cookie))))


def attacks(client: Client, other: Client) -> dict[str, bool]:
    """Return for each attack whether it succeeded."""
    found = {name: client.opcode(name) is not None for name in ABSENT}
    return found | {
        "image of the root window": client.shows_mark(client.root),
        "image of a window": any(client.shows_mark(one) for one in client.others()),
        "copy of the root window": client.copied(client.root),
        "RENDER from the root window": client.rendered(client.root),
        "image through a window without background": covering(client),
        "image of what covers a window": covered(client),
        "image of a window that is named a pixmap": disguised(client),
        "property of the root window": writes(client, client.root),
        "property of a window": any(writes(client, one) for one in client.others()),
        "server grab": grabs_server(client, other),
        "child of a window": child_of_another(client),
        "keyboard map": changes_keys(client),
        "window manager's selection": manages(client),
        "focus of a window": focuses(client),
        "access of a user": admits(client),
        "end of other clients": kills(client),
    }


main()
