"""Rules for the requests of extensions, by name and minor opcode.

An extension that is not named here is absent for the clients of the filter, and a request that is
not named is refused. So are, among others, XTEST, RECORD, SECURITY and VNC-EXTENSION; Composite,
DAMAGE, DOUBLE-BUFFER, DRI3, MIT-SHM and Present, which read or name pixels of windows, or memory of
other users; and MIT-SCREEN-SAVER, which tells when a person types. Pure.
"""

from .requests import (
    Rule,
    Verdict,
    XClient,
    XRequest,
    allowed,
    focus,
    hearing,
    ignored,
    own,
    own_or_error,
    values_of,
    with_bytes,
)

BIG_REQUESTS = b"BIG-REQUESTS"
_RAW_EVENTS = (13, 14, 15, 16, 17, 22, 23, 24)
_FOREIGN_EVENTS = (1, 11, 12)
"""Of XI2: DeviceChanged, HierarchyChanged, PropertyEvent."""


def _select_events(client: XClient, request: XRequest) -> Verdict:
    """Clear the bits of raw events and, for windows of others, of key and pointer events."""
    if not request.whole:
        return request.refused()
    body, at = bytearray(request.body), 8
    hears = client.hears(client.id_at(request.body, 0))
    for _ in range(client.short_at(request.body, 4)):
        length = 4 * client.short_at(request.body, at + 2)
        for kind in range(8 * length):
            place = at + 4 + kind // 8
            if place >= len(body):
                return request.refused()
            if kind in _RAW_EVENTS or not (hears or kind in _FOREIGN_EVENTS):
                body[place] &= ~(1 << kind % 8)
        at += 4 + length
    return with_bytes(request, 0, bytes(body))


def _passive_grab(client: XClient, request: XRequest) -> Verdict:
    return None if client.hears(client.id_at(request.body, 4)) else client.with_id(request, 4)


def _keyboard_by_name(client: XClient, request: XRequest) -> Verdict:
    # The keymap is compiled and described, and does not become that of the keyboard.
    return with_bytes(request, 6, b"\0")


def _create_picture(client: XClient, request: XRequest) -> Verdict:
    picture, drawable = client.id_at(request.body, 0), client.id_at(request.body, 4)
    values = values_of(client, request.body, 12)
    if values is None or not client.of_agent(drawable):
        return client.with_id(request, 4)
    if not _own_masks(client, values):
        return client.with_id(request, 4)
    if drawable not in client.pixmaps:
        if len(client.window_pictures) >= client.most:
            return client.with_id(request, 4)
        client.window_pictures.add(picture)
    return None


def _change_picture(client: XClient, request: XRequest) -> Verdict:
    values = values_of(client, request.body, 4)
    if values is None or not client.owns(client.id_at(request.body, 0)):
        return request.ignored()
    return None if _own_masks(client, values) else request.ignored()


def _free_picture(client: XClient, request: XRequest) -> Verdict:
    picture = client.id_at(request.body, 0)
    if not client.owns(picture):
        return request.ignored()
    if len(request.body) == 4:
        client.window_pictures.discard(picture)
    return None


def _own_masks(client: XClient, values: dict[int, int]) -> bool:
    alpha, clip = values.get(1, 0), values.get(6, 0)
    return all(not one or _source(client, one) for one in (alpha, clip))


def _source(client: XClient, picture: int) -> bool:
    # A source that is a window has the pixels of all that covers it.
    return client.owns(picture) and picture not in client.window_pictures


def _composite(*sources: int, target: int) -> Rule:
    def rule(client: XClient, request: XRequest) -> Verdict:
        if not client.owns(client.id_at(request.body, target)):
            return request.ignored()
        for offset in sources:
            picture = client.id_at(request.body, offset)
            if picture and not _source(client, picture):
                return request.ignored()
        return None

    return rule


def _cursor_of_picture(client: XClient, request: XRequest) -> Verdict:
    return None if _source(client, client.id_at(request.body, 4)) else request.ignored()


_RENDER: dict[int, Rule] = {
    **dict.fromkeys((0, 1, 2, 29, 33, 34, 35, 36), allowed),
    4: _create_picture,
    5: _change_picture,
    7: _free_picture,
    **dict.fromkeys((6, 19, 20, 22, 28, 30, 32), own(0)),
    8: _composite(4, 8, target=12),
    **dict.fromkeys((10, 11, 12, 13), _composite(4, target=8)),
    17: allowed,
    18: own(0, 4),
    **dict.fromkeys((23, 24, 25), _composite(4, target=8)),
    26: own(4),
    27: _cursor_of_picture,
    31: allowed,
}
_INPUT: dict[int, Rule] = {
    **dict.fromkeys((1, 2, 3, 4, 7, 20, 22, 24, 26, 28, 34, 36, 39), allowed),
    **dict.fromkeys((40, 41, 45, 47, 48, 50, 51, 52, 53, 55, 56, 59, 60, 61), allowed),
    6: hearing(0),
    # Devices and their properties are the same for all clients.
    **dict.fromkeys((25, 31, 37, 38, 43, 44, 57, 58), ignored),
    42: own(0),
    46: _select_events,
    49: focus,
    54: _passive_grab,
}
_KEYBOARD: dict[int, Rule] = {
    **dict.fromkeys((0, 1, 3, 4, 6, 8, 10, 12, 13, 15, 17, 19, 21, 22, 24), allowed),
    **dict.fromkeys((5, 7, 9, 11, 14, 16, 18, 20, 25), ignored),
    23: _keyboard_by_name,
}
_SYNC: dict[int, Rule] = {
    **dict.fromkeys((0, 1, 2, 13, 14), allowed),
    **dict.fromkeys((3, 4, 6, 15, 16, 17), own(0)),
    # The counter IDLETIME tells when a person types.
    **dict.fromkeys((5, 18), own_or_error(0)),
    12: ignored,
}
_FIXES: dict[int, Rule] = {
    **dict.fromkeys((0, 2, 3, 4, *range(5, 20), 23, 24, 25, 28, 34), allowed),
    1: own(0),
    20: own(0),
    21: own(0),
    22: own(0),
    26: own(0, 4),
    **dict.fromkeys((27, 31, 32, 33), ignored),
    **dict.fromkeys((29, 30), own(0)),
}
_SHAPE: dict[int, Rule] = {
    **dict.fromkeys((0, 5, 6, 7, 8), allowed),
    **dict.fromkeys((1, 3, 4), own(4)),
    2: own(4, 12, none=(12,)),
}
_READ_RANDR = (0, 4, 5, 6, 8, 9, 10, 11, 15, 20, 22, 23, 25, 27, 28, 31, 32, 33, 36, 37, 41, 42)
_SET_RANDR = (7, 12, 13, 14, 17, 18, 19, 24, 26, 30, 34, 35, 38, 39, 40, 43, 44)

EXTENSIONS: dict[bytes, dict[int, Rule]] = {
    BIG_REQUESTS: {0: allowed},
    b"Generic Event Extension": {0: allowed},
    b"RANDR": {
        **dict.fromkeys(_READ_RANDR, allowed),
        **dict.fromkeys(_SET_RANDR, ignored),
    },
    b"RENDER": _RENDER,
    b"SHAPE": _SHAPE,
    b"SYNC": _SYNC,
    b"XC-MISC": dict.fromkeys((0, 1, 2), allowed),
    b"XFIXES": _FIXES,
    b"XINERAMA": dict.fromkeys(range(6), allowed),
    b"XInputExtension": _INPUT,
    b"XKEYBOARD": _KEYBOARD,
}


def query_extension(client: XClient, request: XRequest) -> Verdict:
    """Ask for a name that no extension has in place of one that is absent for the client."""
    length = client.short_at(request.body, 0)
    if request.body[4 : 4 + length] in EXTENSIONS and request.whole:
        return None
    return with_bytes(request, 4, b"-" * (len(request.body) - 4))
