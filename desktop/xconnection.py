"""Connections to an X server through xcffib."""

import os
import threading
from pathlib import Path
from typing import Any

import xcffib
import xcffib.xproto

from .errors import DisplayGone

# The bindings are generated and have no types worth the name.
Connection = Any

_open: Any = xcffib.Connection
_environment = threading.Lock()

LOST = (xcffib.ConnectionException, BrokenPipeError)
"""What a request raises when the server is gone."""


def connect(display: str, xauthority: Path) -> Connection:
    """Open a connection of one's own.

    Raises:
        DisplayGone: If nobody listens there, or the cookie is refused.
    """
    # libxcb finds the cookie only by this variable, and xcffib's own way to hand one over
    # frees the memory before libxcb reads it.
    with _environment:
        before = os.environ.get("XAUTHORITY")
        os.environ["XAUTHORITY"] = str(xauthority)
        try:
            return _open(display=display)
        except xcffib.ConnectionException as error:
            raise DisplayGone(display, "no connection") from error
        finally:
            if before is None:
                del os.environ["XAUTHORITY"]
            else:
                os.environ["XAUTHORITY"] = before
