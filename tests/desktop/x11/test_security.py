import struct

from deskhand.desktop.x11 import security

COOKIE = bytes(range(16))


def test_the_query_names_the_extension() -> None:
    assert security.extension_query() == b"\x62\x00\x04\x00\x08\x00\x00\x00SECURITY"


def test_the_opcode_is_read_if_the_extension_is_present() -> None:
    assert security.opcode_in(struct.pack("<B7xBB22x", 1, 1, 137)) == 137
    assert security.opcode_in(struct.pack("<B7xBB22x", 1, 0, 0)) is None
    assert security.opcode_in(struct.pack("<B7xBB22x", 0, 1, 137)) is None


def test_the_request_asks_for_an_untrusted_cookie_without_an_end() -> None:
    request = security.untrusted_cookie_request(137)
    opcode, minor, length, name, data, mask = struct.unpack_from("<BBHHHI", request)
    assert (opcode, minor, length * 4) == (137, 1, len(request))
    assert (name, data, mask) == (18, 0, 3)
    assert request[12:30] == b"MIT-MAGIC-COOKIE-1"
    assert struct.unpack("<II", request[-8:]) == (0, 1)


def test_the_cookie_follows_the_fixed_part_of_the_reply() -> None:
    reply = struct.pack("<BxHIIH18x", 1, 2, 4, 77, len(COOKIE)) + COOKIE
    assert security.more_bytes(reply[:32]) == 16
    assert security.cookie_in(reply) == COOKIE


def test_an_error_has_no_cookie() -> None:
    error = bytes([0, 8]) + bytes(30)
    assert security.more_bytes(error) == 0
    assert security.cookie_in(error) is None
