"""Commands that read the screen, and those of the clipboard. Pure."""

import base64

from .arguments import Params, text, whole
from .errors import FailedCommand
from .route_call import DESKTOP, Calls, succeeding

PROTOCOL = 1


def version(params: Params) -> Calls:
    """Return the version of the protocol, and of this service."""
    reply = yield from succeeding("GET", DESKTOP)
    return {"protocol": PROTOCOL, "package": reply.json()["version"]}


def screenshot(params: Params) -> Calls:
    """Return a screenshot in native size."""
    kind = text(params, "format", "png").lower().replace("jpg", "jpeg")
    if kind not in ("png", "jpeg"):
        raise FailedCommand("format must be png or jpeg")
    quality = str(min(max(whole(params, "quality", 95), 1), 100))
    query = {"format": kind, "quality": quality, "coordinate_space": "native"}
    reply = yield from succeeding("GET", f"{DESKTOP}/screenshot", params=query)
    return {"image_data": base64.b64encode(reply.body).decode(), "format": kind}


def screen_size(params: Params) -> Calls:
    """Return the native size of the screen."""
    reply = yield from succeeding("GET", DESKTOP)
    return {"size": reply.json()["size"]}


def accessibility_tree(params: Params) -> Calls:
    """Return the widgets of all applications."""
    reply = yield from succeeding("GET", f"{DESKTOP}/accessibility")
    return {"tree": reply.json()}


def clipboard(params: Params) -> Calls:
    """Return the text that was copied last; empty if there is none."""
    reply = yield from succeeding("GET", f"{DESKTOP}/clipboard", params={"type": "text"})
    return {"content": reply.body.decode("utf-8", "replace")}


def set_clipboard(params: Params) -> Calls:
    """Copy a text."""
    copied = {"text": text(params, "text")}
    yield from succeeding("PUT", f"{DESKTOP}/clipboard", json=copied)
    return {}


def desktop_environment(params: Params) -> Calls:
    """Return the name of the window manager."""
    yield from ()
    return {"environment": "openbox"}


def environment(params: Params) -> Calls:
    """Return the kind of operating system."""
    yield from ()
    return {"result": "linux"}


def unavailable(params: Params) -> Calls:
    """Refuse a command of the protocol that a desktop like this has not."""
    yield from ()
    raise FailedCommand("not available on this desktop")
