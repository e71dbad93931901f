"""Requests of X clients and answers of an X server, as bytes."""

import struct

from deskhand.desktop.x_filter.requests import Agents
from deskhand.desktop.x_filter.stream import FilteredStream

BASE, MASK, ROOT, COLORMAP = 0x400000, 0x1FFFFF, 0x519, 0x20
OWN, FOREIGN = BASE + 7, 0x200003
WINDOW, PIXMAP, CONTEXT = BASE + 1, BASE + 2, BASE + 3
OTHER_BASE = 0x600000
OTHER = OTHER_BASE + 1
"""A window of another client of the filter."""
OPCODES = {b"BIG-REQUESTS": 133, b"RENDER": 139, b"XInputExtension": 131, b"XKEYBOARD": 135}
NO_OPERATION, REFUSED = 127, 126


def setup_answer(order: str = "<", base: int = BASE) -> bytes:
    """Return the answer of a server with one screen of one depth and one visual."""
    vendor = b"vendor.."
    screen = struct.pack(f"{order}II31xB", ROOT, COLORMAP, 1) + struct.pack(
        f"{order}BxH4x24x", 24, 1
    )
    fixed = struct.pack(f"{order}IIIIHHBB10x", 1, base, MASK, 256, len(vendor), 65535, 1, 1)
    body = fixed + vendor + bytes(8) + screen
    return struct.pack(f"{order}BxHHH", 1, 11, 0, len(body) // 4) + body


def stream(agents: Agents | None = None, order: str = "<", base: int = BASE) -> FilteredStream:
    found = FilteredStream(order, agents or Agents(), OPCODES, (500,))
    answer = setup_answer(order, base)
    assert found.to_client(answer) == answer
    return found


def request(opcode: int, body: bytes = b"", data: int = 0, order: str = "<") -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack(f"{order}BBH", opcode, data, 1 + len(body) // 4) + body


def big(opcode: int, body: bytes, data: int = 0) -> bytes:
    return struct.pack("<BBHI", opcode, data, 0, 2 + len(body) // 4) + body


def ids(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)


def name(text: bytes) -> bytes:
    return struct.pack("<HH", len(text), 0) + text


def ignored(one: bytes) -> bytes:
    return bytes((NO_OPERATION,)) + one[1:]


def sent(*requests: bytes) -> bytes:
    """Return what the server gets for the last of these requests."""
    agents = Agents()
    stream(agents, base=OTHER_BASE)
    found = stream(agents)
    for one in requests[:-1]:
        found.to_server(one)
    return found.to_server(requests[-1])


def create_pixmap(pixmap: int) -> bytes:
    return request(53, ids(pixmap, ROOT) + struct.pack("<HH", 8, 8), 24)
