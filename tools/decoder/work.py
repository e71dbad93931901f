"""The work of a worker, with the libraries for videos and pictures.

The decoder process loads this module with its first request. Workers have no files from which a
library could load more of itself at its first use, so that all of it is loaded here.
"""

import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PIL import Image
from PIL import WebPImagePlugin as _WebP  # noqa: F401 - not among those of preinit

from deskhand.recording.errors import RecordingError
from deskhand.recording.video import clips, sprites
from deskhand.recording.video.animation import animation
from deskhand.recording.video.contact_sheet import Cell, contact_sheet
from deskhand.recording.video.crops import Crop, crops
from deskhand.recording.video.trail import trail
from deskhand.tools.recovery import finishing
from deskhand.tools.recovery.ports import FinishedSession

from .messages import CLIP, LARGEST_PICTURE, DecodeReply, DecodeRequest, Json

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")

Image.preinit()


def perform(request: DecodeRequest, descriptors: Sequence[int]) -> DecodeReply:
    """Do the work of a request on the bytes behind ``descriptors``; nothing raises."""
    try:
        return _WORK[request.kind](request.arguments, descriptors)
    except MemoryError:
        return DecodeReply(None, "resources", "it needs too much memory")
    except RecordingError as error:
        # FFmpeg reports an allocation that failed as an error of its own.
        if isinstance(error.__cause__, MemoryError):
            return DecodeReply(None, "resources", "it needs too much memory")
        return DecodeReply(None, "unreadable", str(error))
    except Exception as error:  # noqa: BLE001 - the bytes may lead a library into any error
        # Pillow's errors are OSErrors too, without a number.
        if isinstance(error, OSError) and error.errno:
            return DecodeReply(None, "system", str(error), error.errno)
        return DecodeReply(None, "failed", f"{type(error).__name__}: {error}")


def _cut(arguments: Json, descriptors: Sequence[int]) -> DecodeReply:
    stretches = [(descriptors[index], begin, end) for index, begin, end in arguments["stretches"]]
    clips.cut(stretches, Path(CLIP))
    return DecodeReply(None)


def _still(arguments: Json, descriptors: Sequence[int]) -> DecodeReply:
    return DecodeReply(None, data=clips.still(descriptors[0], arguments["at"]))


def _sprite(arguments: Json, descriptors: Sequence[int]) -> DecodeReply:
    moments = [sprites.Moment(descriptors[index], at) for index, at in arguments["moments"]]
    width, height = arguments["tile"]
    columns, exact = arguments["columns"], arguments["exact"]
    made = sprites.sprite(moments, columns=columns, tile=(width, height), exact=exact)
    return DecodeReply(None, data=made)


def _animate(arguments: Json, descriptors: Sequence[int]) -> DecodeReply:
    stretches = [
        clips.Stretch(descriptors[index], begin, end)
        for index, begin, end in arguments["stretches"]
    ]
    kind, width, most = (arguments[name] for name in ("format", "width", "most_bytes"))
    return DecodeReply(None, data=animation(stretches, kind, width, most))


def _sheet(arguments: Json, descriptors: Sequence[int]) -> DecodeReply:
    cells = [Cell(descriptors[index], *facts) for index, *facts in arguments["cells"]]
    return DecodeReply(None, data=contact_sheet(cells, arguments["columns"]))


def _crops(arguments: Json, descriptors: Sequence[int]) -> DecodeReply:
    wanted = [Crop(descriptors[index], at, point) for index, at, point in arguments["moments"]]
    made = crops(wanted)
    return DecodeReply([len(one) for one in made], data=b"".join(made))


def _trail(arguments: Json, descriptors: Sequence[int]) -> DecodeReply:
    points = [(x, y, number, failed) for x, y, number, failed in arguments["points"]]
    return DecodeReply(None, data=trail(descriptors[0], arguments["at"], points))


def _finish(arguments: Json, _: Sequence[int]) -> DecodeReply:
    found = finishing.finish(Path(), arguments["recording_id"])
    return DecodeReply([_session(one) for one in found])


def _session(one: FinishedSession) -> Json:
    return {
        "metadata": one.metadata,
        "videos": [path.name for path in one.videos],
        "thumbnail": one.thumbnail and one.thumbnail.name,
    }


def _pixels(_: Json, descriptors: Sequence[int]) -> DecodeReply:
    with Image.open(_content(descriptors[0]), formats=FORMATS) as picture:
        if picture.width * picture.height > LARGEST_PICTURE:
            return DecodeReply(None, "resources", "it has too many pixels")
        # Palette pictures would yield indexes, and transparent ones a fourth channel.
        return DecodeReply(list(picture.size), data=picture.convert("RGB").tobytes())


def _content(descriptor: int) -> io.BytesIO:
    return io.BytesIO(os.pread(descriptor, os.fstat(descriptor).st_size, 0))


_WORK: Mapping[str, Callable[[Json, Sequence[int]], DecodeReply]] = {
    "cut": _cut,
    "still": _still,
    "sprite": _sprite,
    "finish": _finish,
    "pixels": _pixels,
    "animate": _animate,
    "sheet": _sheet,
    "crops": _crops,
    "trail": _trail,
}
