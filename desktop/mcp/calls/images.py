"""Choice of the encoding of a picture."""

LARGEST_IMAGE = 200 * 1024
"""Bytes of a picture in a result."""

SMALL_PNG = 40 * 1024
"""A PNG up to this size is smaller than the JPEG of the same screen, which is never encoded."""

FIRST_QUALITY = 80
LOWER_QUALITIES = (60, 40, 20, 5)
"""Qualities of JPEG that are tried while a picture is too large."""


def wants_jpeg(png_bytes: int) -> bool:
    """Return whether the JPEG of a screen may be smaller than its PNG."""
    return png_bytes > SMALL_PNG
