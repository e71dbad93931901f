"""What clients say, in bytes."""

import struct

HELLO = b"RFB 003.008\n\x01\x00"
SHARED_HELLO = b"RFB 003.008\n\x01\x01"
PIXEL_FORMAT = b"\0" + bytes(19)
REQUEST = struct.pack(">BBHHHH", 3, 1, 0, 0, 800, 600)
PIXEL = struct.pack(">BBHHHH", 3, 0, 0, 0, 1, 1)
CONTINUOUS = struct.pack(">BBHHHH", 150, 1, 0, 0, 800, 600)
CONTROL = 0xFFE3
"""Keysym of the left Control key."""
POWER = b"\xfa\0\x01\x02"


def encodings(*numbers: int) -> bytes:
    return struct.pack(f">BxH{len(numbers)}i", 2, len(numbers), *numbers)


def key(keysym: int, down: bool = True) -> bytes:
    return struct.pack(">BBxxI", 4, down, keysym)


def tap(*keysyms: int) -> bytes:
    """Press and release keys, one after the other."""
    return b"".join(key(one) + key(one, down=False) for one in keysyms)


def with_control(letter: str) -> bytes:
    return key(CONTROL) + tap(ord(letter)) + key(CONTROL, down=False)


def qemu(keysym: int, code: int, down: bool = True) -> bytes:
    return struct.pack(">BBHII", 255, 0, down, keysym, code)


def pointer(buttons: int, x: int = 5, y: int = 6) -> bytes:
    return struct.pack(">BBHH", 5, buttons, x, y)


def cut_text(text: bytes, extended: bool = False) -> bytes:
    return struct.pack(">Bxxxi", 6, -len(text) if extended else len(text)) + text


def fence(payload: bytes) -> bytes:
    return struct.pack(">BxxxIB", 248, 1, len(payload)) + payload


def resize(screens: int) -> bytes:
    return struct.pack(">BxHHBx", 251, 800, 600, screens) + bytes(16 * screens)
