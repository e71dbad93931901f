"""Pictures of the agent, decoded with the agent's rights alone; loaded only if a dialect needs it.

A picture may lead its decoder into any error. In this process that reaches nothing which a command
of the agent does not reach as well.
"""

import os
from pathlib import Path
from typing import Any

from PIL import Image
from PIL import WebPImagePlugin as _WebP  # noqa: F401 - not among those of preinit

from deskhand.desktop.files.disk import absolute
from deskhand.desktop.files.errors import BadPath, FileError
from deskhand.desktop.files.reading import opened
from deskhand.desktop.files.roots import Roots

from .server import CallContext, Operation, OperationResult

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
LARGEST = 7680 * 4320
"""Pixels of a picture at most."""

# Workers find no file from which the library could load more of itself.
Image.preinit()


class PictureOperations:
    """Operations on pictures, confined to roots."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots

    def pixels(self, asked: dict[str, Any], call: CallContext) -> OperationResult:
        """Decode a picture; the descriptor is of a file with its pixels: blue, green, red, 0.

        The picture fills a screen of the given size, and is cut where its shape is another one.
        """
        path, size = absolute(asked["path"]), (int(asked["width"]), int(asked["height"]))
        with opened(path, self._roots) as file:
            data = filling(file, size, path)
        descriptor = os.memfd_create("pixels", os.MFD_CLOEXEC)
        with os.fdopen(os.dup(descriptor), "wb") as pixels:
            pixels.write(data)
        return OperationResult({}, (descriptor,))


def filling(file: Any, size: tuple[int, int], path: Path) -> bytes:
    """Return the pixels of a picture that fills a screen.

    Raises:
        BadPath: If it is no picture of a known format.
        FileError: If it is too large.
    """
    try:
        with Image.open(file, formats=FORMATS) as picture:
            if picture.width * picture.height > LARGEST:
                raise FileError(f"{str(path)!r} has too many pixels")
            box = _middle(picture.size, size)
            shown = picture.convert("RGB").resize(size, Image.Resampling.BICUBIC, box)
            return shown.tobytes("raw", "BGRX")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise BadPath(f"{str(path)!r} is no picture that can be shown: {error}") from error


def _middle(picture: tuple[int, int], screen: tuple[int, int]) -> tuple[float, float, float, float]:
    """Return the largest part of a picture, in its middle, that has the shape of the screen."""
    factor = min(picture[0] / screen[0], picture[1] / screen[1])
    width, height = screen[0] * factor, screen[1] * factor
    left, top = (picture[0] - width) / 2, (picture[1] - height) / 2
    return left, top, left + width, top + height


def operations(roots: Roots) -> dict[str, Operation]:
    """Return the operations by name."""
    return {"picture": Operation(PictureOperations(roots).pixels, "picture")}
