"""Requests of the core protocol, and what becomes of them."""

import struct

import pytest

from deskhand.desktop.x_filter.core_rules import CORE
from deskhand.desktop.x_filter.requests import Agents, XClient, XRequest
from tests.desktop.x_filter.wire import (
    BASE,
    COLORMAP,
    CONTEXT,
    FOREIGN,
    OTHER,
    OTHER_BASE,
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

KEYS = 3
"""Event mask of KeyPress and KeyRelease."""


def create_window(window: int, parent: int, kind: int = 1, mask: int = 0, *values: int) -> bytes:
    place = struct.pack("<hhHHHH", 0, 0, 10, 10, 0, kind)
    return request(1, ids(window, parent) + place + ids(0, mask, *values), 24)


def get_image(drawable: int) -> bytes:
    return request(73, ids(drawable) + struct.pack("<hhHHI", 1, 1, 8, 8, 7), 2)


def event(kind: int, target: int, window: int = WINDOW, propagate: int = 0) -> bytes:
    body = bytes((kind, 0, 0, 0)) + ids(ROOT, window) + bytes(20)
    return request(25, ids(target, 0) + body, propagate)


EFFECT_ON_OTHERS = [
    pytest.param(request(opcode, ids(FOREIGN, *rest)), id=label)
    for label, opcode, *rest in (
        ("DestroyWindow", 4),
        ("DestroySubwindows", 5),
        ("ChangeSaveSet", 6),
        ("ReparentWindow", 7, WINDOW, 0),
        ("MapWindow", 8),
        ("UnmapWindow", 10),
        ("ConfigureWindow", 12, 0),
        ("CirculateWindow", 13),
        ("ChangeProperty", 18, 1, 31, 8, 0),
        ("DeleteProperty", 19, 1),
        ("SetSelectionOwner", 22, 1, 0),
        ("ConvertSelection", 24, 1, 31, 1, 0),
        ("GrabButton", 28, 0, 0, 0, 0),
        ("GrabKey", 33, 0, 0),
        ("SetInputFocus", 42, 0),
        ("CloseFont", 46),
        ("FreePixmap", 54),
        ("ChangeGC", 56, 0),
        ("FreeGC", 60),
        ("ClearArea", 61, 0, 0),
        ("PolyFillRectangle", 70, CONTEXT, 0, 0),
        ("PutImage", 72, CONTEXT, 0, 0, 0),
        ("FreeColormap", 79),
        ("FreeCursor", 95),
        ("KillClient", 113),
        ("RotateProperties", 114, 0),
    )
]


@pytest.mark.parametrize("one", EFFECT_ON_OTHERS)
def test_a_request_has_no_effect_on_what_others_have(one: bytes) -> None:
    assert sent(one) == ignored(one)
    if one[0] not in (7,):
        own = one[:4] + ids(WINDOW) + one[8:]
        assert sent(own)[0] == one[0]


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(request(36), id="GrabServer"),
        pytest.param(request(51, bytes(4)), id="SetFontPath"),
        pytest.param(request(100, bytes(8), 1), id="ChangeKeyboardMapping"),
        pytest.param(request(102, bytes(4)), id="ChangeKeyboardControl"),
        pytest.param(request(105, bytes(8)), id="ChangePointerControl"),
        pytest.param(request(107, bytes(8)), id="SetScreenSaver"),
        pytest.param(request(109, bytes(4)), id="ChangeHosts"),
        pytest.param(request(111), id="SetAccessControl"),
        pytest.param(request(112, data=1), id="SetCloseDownMode"),
        pytest.param(request(113, ids(0)), id="KillClient AllTemporary"),
        pytest.param(request(22, ids(WINDOW, 500, 0)), id="selection of a manager"),
    ],
)
def test_a_request_that_concerns_everybody_has_no_effect(one: bytes) -> None:
    assert sent(one) == ignored(one)


@pytest.mark.parametrize("opcode", [116, 118])
def test_a_request_with_a_reply_that_concerns_everybody_is_refused(opcode: int) -> None:
    assert sent(request(opcode, bytes(4)))[0] == REFUSED


def test_of_other_windows_a_client_hears_no_keys() -> None:
    for window in (FOREIGN, ROOT, OTHER):
        asked = request(2, ids(window, 1 << 11, 0xFFFFFFFF))
        found = struct.unpack("<I", sent(asked)[12:])[0]
        # Keys, buttons, motion, the keymap, and the redirection to a window manager
        assert found & 0x3FFF | found & 1 << 14 | found & 1 << 18 | found & 1 << 20 == 0
        assert found & 1 << 22
    own = request(2, ids(WINDOW, 1 << 11, KEYS))
    assert sent(own) == own


def test_other_attributes_of_other_windows_stay_as_they_are() -> None:
    one = request(2, ids(ROOT, 1 << 1 | 1 << 11, 0, KEYS))
    assert sent(one) == ignored(one)


def test_no_window_is_made_in_one_of_others() -> None:
    assert sent(create_window(WINDOW, FOREIGN, 2)) == create_window(WINDOW, 0, 2)


def test_a_window_in_one_of_another_client_hears_no_keys() -> None:
    events = 1 << 15 | KEYS
    asked = create_window(WINDOW, OTHER, 2, 1 << 11, events)
    assert sent(asked) == create_window(WINDOW, OTHER, 2, 1 << 11, 1 << 15)
    # Nor does one in that one.
    inner = create_window(PIXMAP, WINDOW, 2, 1 << 11, events)
    assert sent(asked, inner) == create_window(PIXMAP, WINDOW, 2, 1 << 11, 1 << 15)
    changed = request(2, ids(WINDOW, 1 << 11, events))
    assert sent(asked, changed) == request(2, ids(WINDOW, 1 << 11, 1 << 15))
    grab = request(33, ids(WINDOW, 0, 0))
    assert sent(asked, grab) == ignored(grab)


def test_a_client_draws_into_a_window_of_another_one() -> None:
    for one in (
        request(61, ids(OTHER, 0, 0)),
        request(62, ids(PIXMAP, OTHER, CONTEXT) + bytes(12)),
        request(72, ids(OTHER, CONTEXT, 0, 0, 0)),
    ):
        assert sent(one) == one
    one = request(72, ids(OTHER, OTHER, 0, 0, 0))
    assert sent(one) == ignored(one)


@pytest.mark.parametrize("given", [(), (1 << 0, 0), (1 << 0, 1)], ids=["none", "None", "relative"])
def test_a_window_has_a_background(given: tuple[int, ...]) -> None:
    assert sent(create_window(WINDOW, ROOT, 1, *given)) == create_window(
        WINDOW, ROOT, 1, 1 << 1, 0xFFFFFF
    )
    if given:
        changed = request(2, ids(WINDOW, *given))
        assert sent(changed) == request(2, ids(WINDOW, 1 << 1, 0xFFFFFF))


def test_a_window_keeps_the_background_that_it_has() -> None:
    for one in (
        create_window(WINDOW, ROOT, 1, 1 << 1 | 1 << 11, 5, KEYS),
        create_window(WINDOW, ROOT, 1, 1 << 0, PIXMAP),
        create_window(WINDOW, ROOT, 2),
        request(2, ids(WINDOW, 1 << 1, 5)),
    ):
        assert sent(one) == one


def test_a_background_is_no_pixmap_of_others() -> None:
    assert sent(create_window(WINDOW, ROOT, 1, 1, FOREIGN)) == create_window(
        WINDOW, 0, 1, 1, FOREIGN
    )
    one = request(2, ids(WINDOW, 1, FOREIGN))
    assert sent(one) == ignored(one)
    one = request(55, ids(CONTEXT, PIXMAP, 1 << 10, FOREIGN))
    assert sent(one) == ignored(one)


def test_only_pixmaps_are_read() -> None:
    assert sent(create_pixmap(PIXMAP), get_image(PIXMAP)) == get_image(PIXMAP)
    for foreign in (FOREIGN, ROOT, OTHER):
        assert sent(get_image(foreign)) == get_image(0)
    # A window of its own: the coordinate is outside of it.
    found = sent(create_window(WINDOW, ROOT), get_image(WINDOW))
    assert struct.unpack_from("<Ih", found, 4) == (WINDOW, -32768)


def test_a_window_does_not_become_a_pixmap() -> None:
    window = create_window(WINDOW, ROOT)
    for asked in (
        (window, create_pixmap(WINDOW)),
        (create_pixmap(WINDOW), window),
        # The server destroys nothing for a request of another length.
        (window, request(4, ids(WINDOW, 0)), create_pixmap(WINDOW)),
        # Nor for one that names no window of the client.
        (create_pixmap(WINDOW), request(54, ids(WINDOW)), window),
    ):
        assert sent(*asked, get_image(WINDOW)) != get_image(WINDOW)
    asked = (window, request(4, ids(WINDOW)), create_pixmap(WINDOW))
    assert sent(*asked, get_image(WINDOW)) == get_image(WINDOW)


@pytest.mark.parametrize("opcode", [62, 63])
def test_nothing_is_copied_from_or_to_what_others_have(opcode: int) -> None:
    for places in ((FOREIGN, PIXMAP), (ROOT, PIXMAP), (PIXMAP, FOREIGN)):
        one = request(opcode, ids(*places, CONTEXT) + bytes(12))
        assert sent(one) == ignored(one)
    one = request(opcode, ids(WINDOW, PIXMAP, CONTEXT) + bytes(12))
    assert sent(one) == one


@pytest.mark.parametrize("kind", [2, 3, 4, 5, 6, 12, 17, 22, 64])
def test_events_of_input_and_of_the_server_are_not_sent_to_others(kind: int) -> None:
    for target in (FOREIGN, ROOT, 0, 1):
        one = event(kind, target)
        assert sent(one) == ignored(one)
        marked = event(kind | 128, target)
        assert sent(marked) == ignored(marked)
    for target in (WINDOW, OTHER):
        assert sent(event(kind, target)) == event(kind, target)


def test_an_event_of_input_does_not_go_on_to_the_windows_above() -> None:
    assert sent(event(2, WINDOW, propagate=1)) == event(2, WINDOW)


def test_events_of_conventions_are_sent_to_others() -> None:
    for kind in (33, 31):
        assert sent(event(kind, FOREIGN)) == event(kind, FOREIGN)
    for kind in (18, 23):
        assert sent(event(kind, ROOT, WINDOW)) == event(kind, ROOT, WINDOW)
        one = event(kind, ROOT, FOREIGN)
        assert sent(one) == ignored(one)


def test_the_history_of_the_pointer_is_empty() -> None:
    assert sent(request(39, ids(ROOT, 0, 9))) == request(39, ids(ROOT, 2, 1))


def test_a_property_of_others_is_read_and_stays() -> None:
    asked = ids(FOREIGN, 1, 0, 0, 1)
    assert sent(request(20, asked, 1)) == request(20, asked, 0)
    own = request(20, ids(WINDOW, 1, 0, 0, 1), 1)
    assert sent(own) == own


def test_a_window_is_moved_into_an_own_one_or_to_the_root() -> None:
    for parent in (WINDOW, ROOT):
        one = request(7, ids(OTHER, parent, 0))
        assert sent(one) == one
    for parent in (FOREIGN, OTHER):
        one = request(7, ids(WINDOW, parent, 0))
        assert sent(one) == ignored(one)


def test_a_request_that_is_cut_short_is_refused() -> None:
    for one in (
        request(1, ids(WINDOW, ROOT) + bytes(16) + ids(2)),
        request(2, ids(WINDOW, 1)),
        request(25, ids(WINDOW, 0)),
    ):
        assert sent(one)[0] == REFUSED


def test_a_client_with_too_many_windows_reads_no_pixmaps() -> None:
    client = XClient("<", Agents({BASE, OTHER_BASE}), frozenset(), most=2)
    client.base, client.mask, client.roots = BASE, 0x1FFFFF, frozenset({ROOT})

    def verdict(one: bytes) -> XRequest | None:
        return CORE[one[0]](client, XRequest(one[0], one[1], one[4:]))

    assert verdict(create_pixmap(PIXMAP)) is None
    assert verdict(get_image(PIXMAP)) is None
    for number in range(BASE + 10, BASE + 13):
        verdict(create_window(number, OTHER))
    assert client.guests == {BASE + 10, BASE + 11}
    assert verdict(get_image(PIXMAP)) is not None
    assert verdict(create_pixmap(PIXMAP)) is None
    assert verdict(get_image(PIXMAP)) is not None


def test_in_place_of_the_pressed_keys_the_colour_black_is_asked_for() -> None:
    assert sent(request(44)) == request(91, ids(COLORMAP, 0))
    # The server refuses a request of that length.
    assert sent(request(44, bytes(4))) == request(44, bytes(4))
