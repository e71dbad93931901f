"""Requests of extensions, and what becomes of them."""

import struct

import pytest

from deskhand.desktop.x_filter.extension_rules import EXTENSIONS, query_extension
from deskhand.desktop.x_filter.requests import Agents, XClient, XRequest
from tests.desktop.x_filter.wire import (
    BASE,
    FOREIGN,
    NO_OPERATION,
    OTHER,
    OWN,
    PIXMAP,
    REFUSED,
    ROOT,
    WINDOW,
    create_pixmap,
    ids,
    ignored,
    request,
    sent,
)

RENDER, INPUT, KEYBOARD = 139, 131, 135


def picture(number: int, drawable: int, mask: int = 0, *values: int) -> bytes:
    return request(RENDER, ids(number, drawable, 1, mask, *values), 4)


def composite(source: int, mask: int, target: int) -> bytes:
    return request(RENDER, b"\1\0\0\0" + ids(source, mask, target) + bytes(16), 8)


def test_pictures_of_windows_are_no_sources() -> None:
    one, two = BASE + 10, BASE + 11
    begin = create_pixmap(PIXMAP), picture(one, PIXMAP), picture(two, WINDOW)
    assert sent(*begin, composite(one, 0, two)) == composite(one, 0, two)
    for places in ((two, 0, one), (one, two, one), (FOREIGN, 0, one), (one, 0, FOREIGN)):
        assert sent(*begin, composite(*places)) == ignored(composite(*places))
    freed = (*begin, request(RENDER, ids(two), 7), picture(two, PIXMAP))
    assert sent(*freed, composite(two, 0, one)) == composite(two, 0, one)


def test_no_picture_is_made_of_what_others_have() -> None:
    for drawable in (FOREIGN, ROOT):
        assert sent(picture(OWN, drawable)) == picture(OWN, 0)
    # Another client of the filter draws into it, and does not read it.
    begin = picture(OWN, OTHER), create_pixmap(PIXMAP), picture(OWN + 1, PIXMAP)
    assert sent(*begin, composite(OWN + 1, 0, OWN)) == composite(OWN + 1, 0, OWN)
    assert sent(*begin, composite(OWN, 0, OWN + 1)) == ignored(composite(OWN, 0, OWN + 1))
    # An alpha map
    assert sent(picture(OWN, PIXMAP, 1 << 1, FOREIGN)) == picture(OWN, 0, 1 << 1, FOREIGN)


def select(window: int, *bits: int) -> bytes:
    mask = sum(1 << bit for bit in bits).to_bytes(4, "little")
    return request(INPUT, ids(window) + struct.pack("<HHHH", 1, 0, 1, 1) + mask, 46)


def test_xi2_tells_of_keys_in_own_windows_only_and_of_no_raw_events() -> None:
    everything = range(1, 28)
    raw = {13, 14, 15, 16, 17, 22, 23, 24}
    for window in (FOREIGN, ROOT, OTHER):
        assert sent(select(window, *everything)) == select(window, 1, 11, 12)
    assert sent(select(WINDOW, *everything)) == select(WINDOW, *(set(everything) - raw))


def test_a_selection_of_events_that_does_not_end_is_refused() -> None:
    for body in (ids(WINDOW) + struct.pack("<HHHH", 1, 0, 1, 9), ids(WINDOW, 1) + bytes(4000)):
        assert sent(request(INPUT, body, 46))[:2] == bytes((REFUSED, 46))


@pytest.mark.parametrize("minor", [25, 31, 37, 43, 44, 57, 58])
def test_devices_stay_as_they_are(minor: int) -> None:
    assert sent(request(INPUT, bytes(12), minor))[0] == NO_OPERATION


def test_a_passive_grab_is_one_of_an_own_window() -> None:
    one = request(INPUT, ids(0, ROOT, 0, 0, 0, 0, 0), 54)
    assert sent(one) == request(INPUT, ids(0, 0, 0, 0, 0, 0, 0), 54)


@pytest.mark.parametrize("minor", [5, 7, 9, 11, 14, 16, 18, 20, 25])
def test_the_keyboard_stays_as_it_is(minor: int) -> None:
    assert sent(request(KEYBOARD, bytes(12), minor))[0] == NO_OPERATION


def test_a_keymap_is_described_and_not_loaded() -> None:
    asked = struct.pack("<HHHBx", 256, 1, 1, 1) + bytes(8)
    assert sent(request(KEYBOARD, asked, 23)) == request(KEYBOARD, asked[:6] + bytes(10), 23)


def test_the_focus_is_not_given_to_windows_of_others() -> None:
    for window in (FOREIGN, ROOT):
        one = request(INPUT, ids(window, 0, 2), 49)
        assert sent(one) == ignored(one)
    for window in (0, 1, OTHER, WINDOW):
        one = request(INPUT, ids(window, 0, 2), 49)
        assert sent(one) == one


def test_a_picture_changes_to_own_masks_only() -> None:
    begin = create_pixmap(PIXMAP), picture(OWN, PIXMAP)
    one = request(RENDER, ids(OWN, 1 << 6, PIXMAP), 5)
    assert sent(*begin, one) == one
    for change in ((OWN, 1 << 6, FOREIGN), (FOREIGN, 0), (OWN, 1 << 1)):
        one = request(RENDER, ids(*change), 5)
        assert sent(*begin, one) == ignored(one)


def test_a_picture_of_others_is_not_freed() -> None:
    one = request(RENDER, ids(FOREIGN), 7)
    assert sent(one) == ignored(one)
    # The server frees nothing for a request of another length.
    begin = picture(OWN, WINDOW), request(RENDER, ids(OWN, 0), 7)
    asked = composite(OWN, 0, OWN)
    assert sent(*begin, asked) == ignored(asked)


def test_a_cursor_is_made_of_an_own_pixmap() -> None:
    begin = create_pixmap(PIXMAP), picture(OWN, PIXMAP), picture(OWN + 1, WINDOW)
    for source, passes in ((OWN, True), (OWN + 1, False), (FOREIGN, False)):
        one = request(RENDER, ids(BASE + 90, source, 0), 27)
        assert sent(*begin, one) == (one if passes else ignored(one))


def test_a_client_with_too_many_pictures_of_windows_makes_no_more() -> None:
    client = XClient("<", Agents({BASE}), frozenset(), most=1)
    client.base, client.mask = BASE, 0x1FFFFF
    rule = EXTENSIONS[b"RENDER"][4]
    one, two = (XRequest(RENDER, 4, picture(number, WINDOW)[4:]) for number in (OWN, OWN + 1))
    assert rule(client, one) is None
    assert rule(client, two) == client.with_id(two, 4)


def test_an_absent_extension_is_asked_for_by_a_name_that_none_has() -> None:
    client = XClient("<", Agents(), frozenset())
    for name, asked in ((b"RENDER", None), (b"XTEST", b"-----")):
        body = struct.pack("<HH", len(name), 0) + name
        found = query_extension(client, XRequest(98, 0, body))
        assert (found and found.body[4:]) == asked
