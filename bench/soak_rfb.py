"""Feed the RFB parser real, random and broken sessions: `python -m bench.soak_rfb [SECONDS]`.

The seed is printed first. Fails with a traceback when the parser raises anything but
``ProtocolBroken``. Exits with status 1 and the session in hexadecimal when the parser buffers more
than one message, or splits the same bytes differently when they arrive in other pieces.
"""

import random
import struct
import sys
import time
from pathlib import Path

from deskhand.vncbridge.errors import ProtocolBroken
from deskhand.vncbridge.rfb.messages import SHAPES, ClientParser, Held

HELLO = b"RFB 003.008\n\x01\x00"
FOLDER = Path(__file__).parent.parent / "tests" / "data" / "rfb"
REAL = [path.read_bytes() for path in sorted(FOLDER.glob("*.bin"))]
"""Recorded sessions of real clients."""
LARGEST_KEPT = 8 + 4 * 1024


def session(chance: random.Random) -> bytes:
    """Return a session that is mostly well formed, with a wrong byte now and then."""
    data = bytearray(chance.choice((HELLO, HELLO, *REAL)))
    for _ in range(chance.randrange(40)):
        data += message(chance)
    for _ in range(chance.choice((0, 0, 1, 5))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def message(chance: random.Random) -> bytes:
    """Return one message of a known type with a random body."""
    kind = chance.choice(list(SHAPES))
    count = chance.randrange(6)
    match kind:
        case 2:
            return struct.pack(">BxH", 2, count) + chance.randbytes(4 * count)
        case 6:
            sign = chance.choice((1, -1))
            return struct.pack(">Bxxxi", 6, sign * count) + chance.randbytes(count)
        case 248:
            return struct.pack(">BxxxIB", 248, 0, count) + chance.randbytes(count)
        case 251:
            return struct.pack(">BxHHBx", 251, 8, 6, count) + chance.randbytes(16 * count)
        case 255:
            return b"\xff\0" + chance.randbytes(10)
        case _:
            return bytes([kind]) + chance.randbytes(SHAPES[kind].length(b"") - 1)


def parsed(pieces: list[bytes]) -> tuple[list[tuple[str, bytes]], str]:
    """Return the parsed messages, and the error with which parsing ended."""
    stream, held = ClientParser(), Held()
    found = []
    try:
        for piece in pieces:
            for one in stream.feed(piece):
                held.note(one)
                found.append((one.kind.value, one.raw))
    except ProtocolBroken as broken:
        return found, str(broken)
    held.release()
    return found, ""


def cut(data: bytes, chance: random.Random) -> list[bytes]:
    """Return the bytes in random pieces."""
    edges = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(1, 30)))
    return [data[start:end] for start, end in zip([0, *edges], [*edges, len(data)], strict=True)]


def main(seconds: float) -> int:
    """Run for so many seconds; return the exit status."""
    seed = time.time_ns()
    chance = random.Random(seed)
    end, played = time.monotonic() + seconds, 0
    print(f"seed {seed}")
    while time.monotonic() < end:
        data = session(chance)
        whole, pieces = parsed([data]), parsed(cut(data, chance))
        # Messages before an error may or may not have been returned; those that were must be equal.
        shorter = min(len(whole[0]), len(pieces[0]))
        if whole[1] != pieces[1] or whole[0][:shorter] != pieces[0][:shorter]:
            print(f"cut differently: {data.hex()}")
            return 1
        if any(len(raw) > LARGEST_KEPT for _, raw in whole[0]):
            print(f"kept too much: {data.hex()}")
            return 1
        played += 1
    print(f"{played} sessions in {seconds:g} s, none failed")
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 600.0))
