"""The root window, whose background is behind all windows."""

from collections.abc import Callable
from pathlib import Path

import xcffib
import xcffib.xproto

from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Size

from .connection import LOST, Connection, connect, screen_of

_STRIP_BYTES = 131_072
"""Bytes of one request: the core protocol permits 262,140."""
_PIXMAPS = (b"_XROOTPMAP_ID", b"ESETROOT_PMAP_ID")
"""Properties by which panels find the picture behind them (EWMH does not name any)."""
_PIXMAP_TYPE = xcffib.xproto.Atom.PIXMAP


class RootWindow:
    """Paints the background of the display of now. Calls block.

    ``where`` returns name and cookie file of the display; a client that the server does not trust
    may not paint there.
    """

    def __init__(self, where: Callable[[], tuple[str, Path]]) -> None:
        self._where = where
        self._shown: tuple[str, int] | None = None

    def show(self, pixels: bytes, size: Size) -> None:
        """Show pixels of the screen's size: blue, green, red and a byte without meaning.

        Raises:
            DisplayGone: If there is no display.
        """
        where = self._where()
        connection = connect(*where)
        try:
            pixmap = _painted(connection, pixels, size)
            # The pixmap outlives this connection; the one before ends with its own resources.
            connection.core.SetCloseDownMode(xcffib.xproto.CloseDown.RetainPermanent)
            if self._shown is not None and self._shown[0] == str(where):
                connection.core.KillClient(self._shown[1])
            self._shown = str(where), pixmap
            connection.core.GetInputFocus().reply()
        except (xcffib.XcffibException, *LOST) as error:
            raise DisplayGone(where[0], "connection lost") from error
        finally:
            connection.disconnect()


def show_column(display: str, xauthority: Path, column: Callable[[int], bytes]) -> None:
    """Show one column of pixels in each column of the root window.

    ``column`` returns it for the height of the screen. The X server repeats it: a picture of the
    whole screen would take 8 MB of its memory.

    Raises:
        DisplayGone: If no server answers there.
    """
    connection = connect(display, xauthority)
    try:
        core, screen = connection.core, screen_of(connection)
        pixmap, context = connection.generate_id(), connection.generate_id()
        height = screen.height_in_pixels
        pixels = column(height)
        core.CreatePixmap(screen.root_depth, pixmap, screen.root, 1, height)
        core.CreateGC(context, pixmap, 0, [])
        core.PutImage(
            xcffib.xproto.ImageFormat.ZPixmap,
            *(pixmap, context, 1, height, 0, 0, 0, screen.root_depth, len(pixels), pixels),
        )
        core.ChangeWindowAttributes(screen.root, xcffib.xproto.CW.BackPixmap, [pixmap])
        core.ClearArea(False, screen.root, 0, 0, 0, 0)
        # The connection may end when the server has painted.
        core.GetInputFocus().reply()
    except (xcffib.XcffibException, *LOST) as error:
        raise DisplayGone(display, "connection lost") from error
    finally:
        connection.disconnect()


def _painted(connection: Connection, pixels: bytes, size: Size) -> int:
    core, screen = connection.core, screen_of(connection)
    pixmap, context = connection.generate_id(), connection.generate_id()
    core.CreatePixmap(screen.root_depth, pixmap, screen.root, size.width, size.height)
    core.CreateGC(context, pixmap, 0, [])
    row = size.width * 4
    rows = max(_STRIP_BYTES // row, 1)
    for top in range(0, size.height, rows):
        strip = pixels[top * row : (top + rows) * row]
        core.PutImage(
            xcffib.xproto.ImageFormat.ZPixmap,
            *(pixmap, context, size.width, len(strip) // row, 0, top, 0, screen.root_depth),
            *(len(strip), strip),
        )
    core.FreeGC(context)
    core.ChangeWindowAttributes(screen.root, xcffib.xproto.CW.BackPixmap, [pixmap])
    for name in _PIXMAPS:
        atom = core.InternAtom(False, len(name), name).reply().atom
        core.ChangeProperty(
            *(xcffib.xproto.PropMode.Replace, screen.root, atom, _PIXMAP_TYPE, 32, 1, [pixmap])
        )
    core.ClearArea(False, screen.root, 0, 0, 0, 0)
    return int(pixmap)
