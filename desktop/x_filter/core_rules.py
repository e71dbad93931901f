"""Rules for the requests of the core protocol.

What a client may do to windows of others is what the SECURITY extension lets an untrusted client
do, and reading them is the same: a client sees its own windows only, and none of their pixels that
another window covers. Pure.
"""

from dataclasses import replace

from .requests import (
    NO_OPERATION,
    Rule,
    Verdict,
    XClient,
    XRequest,
    allowed,
    focus,
    hearing,
    ignored,
    of_agent,
    own,
    refused,
    values_of,
    with_bytes,
    with_values,
)

WHITE = 0xFFFFFF
_BACK_PIXMAP, _BACK_PIXEL, _BORDER_PIXMAP, _BACKING_STORE, _EVENT_MASK = 0, 1, 2, 6, 11
"""Bits of the attributes of windows."""
_NONE, _PARENT_RELATIVE = 0, 1
_FOREIGN_EVENTS = sum(1 << bit for bit in (16, 17, 19, 21, 22))
"""VisibilityChange, StructureNotify, SubstructureNotify, FocusChange, PropertyChange."""
_INPUT_MASK = sum(1 << bit for bit in (*range(15), 24))
"""Keys, buttons, the pointer, the keymap, and the behaviour of grabs by a button."""
_TILE, _STIPPLE, _CLIP_MASK = 10, 11, 19
"""Bits of pixmaps in a graphics context."""
_INPUT_EVENTS = range(2, 9)
"""KeyPress, KeyRelease, ButtonPress, ButtonRelease, MotionNotify, EnterNotify, LeaveNotify."""
_UNMAP_NOTIFY, _CONFIGURE_REQUEST, _SELECTION_NOTIFY, _CLIENT_MESSAGE = 18, 23, 31, 33
_QUERY_COLORS, _BLACK = 91, 0
_OUTSIDE = 0x8000
"""The coordinate -32768, where no window is."""


def _create_window(client: XClient, request: XRequest) -> Verdict:
    window, parent = client.id_at(request.body, 0), client.id_at(request.body, 4)
    values = values_of(client, request.body, 24)
    if values is None or not request.whole:
        return request.refused()
    if not client.of_agent(parent) and parent not in client.roots:
        return client.with_id(request, 4)
    _note_window(client, window)
    if parent not in client.roots and not client.hears(parent):
        # It would get the keys that are for the window that it is in.
        if len(client.guests) >= client.most:
            return client.with_id(request, 4)
        client.guests.add(window)
        values[_EVENT_MASK] = values.get(_EVENT_MASK, 0) & ~_INPUT_MASK
    drawn = client.short_at(request.body, 18) != 2
    if not _borrow_nothing(client, values):
        return client.with_id(request, 4)
    if drawn and _BACK_PIXEL not in values and values.get(_BACK_PIXMAP, 0) <= _PARENT_RELATIVE:
        # Without a background it would show what was on the screen before.
        values.pop(_BACK_PIXMAP, None)
        values[_BACK_PIXEL] = WHITE
    values.pop(_BACKING_STORE, None)
    return with_values(client, request, 24, values)


def _change_attributes(client: XClient, request: XRequest) -> Verdict:
    window = client.id_at(request.body, 0)
    values = values_of(client, request.body, 4)
    if values is None or not request.whole:
        return request.refused()
    if not client.owns(window):
        if set(values) != {_EVENT_MASK}:
            return request.ignored()
        return with_values(client, request, 4, {_EVENT_MASK: values[_EVENT_MASK] & _FOREIGN_EVENTS})
    if not _borrow_nothing(client, values):
        return request.ignored()
    if values.get(_BACK_PIXMAP, WHITE) <= _PARENT_RELATIVE:
        del values[_BACK_PIXMAP]
        values.setdefault(_BACK_PIXEL, WHITE)
    values.pop(_BACKING_STORE, None)
    if not client.hears(window) and _EVENT_MASK in values:
        values[_EVENT_MASK] &= ~_INPUT_MASK
    return with_values(client, request, 4, values)


def _borrow_nothing(client: XClient, values: dict[int, int]) -> bool:
    pixmaps = (values.get(_BACK_PIXMAP, 0), values.get(_BORDER_PIXMAP, 0))
    return all(one <= _PARENT_RELATIVE or client.owns(one) for one in pixmaps)


def _note_window(client: XClient, window: int) -> None:
    client.pixmaps.discard(window)
    if len(client.windows) < client.most:
        client.windows.add(window)
    else:
        # Which ids are windows is no longer known.
        client.pixmaps.clear()


def _destroy_window(client: XClient, request: XRequest) -> Verdict:
    window = client.id_at(request.body, 0)
    if len(request.body) == 4 and len(client.windows) < client.most:
        client.windows.discard(window)
    return _DESTROY(client, request)


_DESTROY = of_agent(0)


def _reparent(client: XClient, request: XRequest) -> Verdict:
    parent = client.id_at(request.body, 4)
    if client.owns(parent) or parent in client.roots:
        return _DESTROY(client, request)
    return request.ignored()


def _write_property(client: XClient, request: XRequest) -> Verdict:
    window, name = client.id_at(request.body, 0), client.id_at(request.body, 4)
    if client.of_agent(window) or (window, name) in client.grants:
        return None
    return request.ignored()


def _get_property(client: XClient, request: XRequest) -> Verdict:
    if not request.data or client.of_agent(client.id_at(request.body, 0)):
        return None
    return replace(request, data=0)


def _own_selection(client: XClient, request: XRequest) -> Verdict:
    owner, selection = client.id_at(request.body, 0), client.id_at(request.body, 4)
    if (owner and not client.of_agent(owner)) or selection in client.denied_selections:
        return request.ignored()
    return None


def _send_event(client: XClient, request: XRequest) -> Verdict:
    body = request.body
    if len(body) != 40:
        return request.refused()
    kind = body[8] & 127
    if client.of_agent(client.id_at(body, 0)):
        # The windows above may be those of others.
        return replace(request, data=0) if request.data and kind in _INPUT_EVENTS else None
    if kind in (_CLIENT_MESSAGE, _SELECTION_NOTIFY):
        return None
    if kind in (_UNMAP_NOTIFY, _CONFIGURE_REQUEST) and client.of_agent(client.id_at(body, 16)):
        return None
    return request.ignored()


def _motion_events(client: XClient, request: XRequest) -> Verdict:
    # From 2 to 1: no event is in between.
    return client.with_id(client.with_id(request, 4, 2), 8, 1)


def _create_pixmap(client: XClient, request: XRequest) -> Verdict:
    pixmap = client.id_at(request.body, 0)
    # The server does not make a pixmap with the id of a window.
    made = pixmap not in client.windows and client.owns(pixmap) and len(request.body) == 12
    known = max(len(client.pixmaps), len(client.windows)) < client.most
    if made and known:
        client.pixmaps.add(pixmap)
    return None


def _free_pixmap(client: XClient, request: XRequest) -> Verdict:
    client.pixmaps.discard(client.id_at(request.body, 0))
    return own(0)(client, request)


def _graphics_context(mask_at: int) -> Rule:
    def rule(client: XClient, request: XRequest) -> Verdict:
        values = values_of(client, request.body, mask_at)
        if values is None or not client.owns(client.id_at(request.body, 0)):
            return request.ignored()
        pixmaps = [values.get(bit, 0) for bit in (_TILE, _STIPPLE, _CLIP_MASK)]
        return None if all(not one or client.owns(one) for one in pixmaps) else request.ignored()

    return rule


def _get_image(client: XClient, request: XRequest) -> Verdict:
    drawable = client.id_at(request.body, 0)
    if drawable in client.pixmaps:
        return None
    if not client.owns(drawable):
        return client.with_id(request, 0)
    # The picture of a window has all that covers it. As if it was not on the screen: BadMatch.
    return with_bytes(request, 4, client.card16.pack(_OUTSIDE))


def _query_keymap(client: XClient, request: XRequest) -> Verdict:
    # The reply with one colour, which is black, is that with a keymap in which no key is down.
    body = client.card32.pack(client.colormap) + client.card32.pack(_BLACK)
    return replace(request, opcode=_QUERY_COLORS, data=0, body=body) if not request.body else None


def _kill_client(client: XClient, request: XRequest) -> Verdict:
    resource = client.id_at(request.body, 0)
    return None if resource and client.of_agent(resource) else request.ignored()


_draw = own(4, agents=(0,))

CORE: dict[int, Rule] = {
    **dict.fromkeys(range(1, 120), allowed),
    1: _create_window,
    2: _change_attributes,
    4: _destroy_window,
    **dict.fromkeys((5, 6, *range(8, 14)), of_agent(0)),
    7: _reparent,
    **dict.fromkeys((18, 19), _write_property),
    20: _get_property,
    22: _own_selection,
    24: of_agent(0),
    25: _send_event,
    28: of_agent(0),
    33: hearing(0),
    # GrabServer
    36: ignored,
    39: _motion_events,
    42: focus,
    44: _query_keymap,
    # CloseFont
    46: own(0),
    # SetFontPath
    51: ignored,
    53: _create_pixmap,
    54: _free_pixmap,
    55: _graphics_context(8),
    56: _graphics_context(4),
    57: own(0, 4),
    **dict.fromkeys((58, 59, 60), own(0)),
    61: of_agent(0),
    **dict.fromkeys((62, 63), own(8, agents=(0, 4))),
    **dict.fromkeys((*range(64, 73), *range(74, 78)), _draw),
    73: _get_image,
    # Colour maps and cursors
    79: own(0),
    80: own(4),
    **dict.fromkeys((81, 82, 89, 90), own(0)),
    93: own(4, 8, none=(8,)),
    94: own(4, 8, none=(8,)),
    **dict.fromkeys((95, 96), own(0)),
    # Keyboard, pointer, screen saver, access control, close-down mode
    **dict.fromkeys((100, 102, 105, 107, 109, 111, 112, 115), ignored),
    113: _kill_client,
    114: of_agent(0),
    # SetPointerMapping and SetModifierMapping have replies.
    **dict.fromkeys((116, 118), refused),
    NO_OPERATION: allowed,
}
"""By opcode; the filter itself handles those that it answers otherwise."""
