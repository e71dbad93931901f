from io import BytesIO

import numpy as np
from PIL import Image

from deskhand.recording.video.jpeg import downscaled, jpeg
from tests.recording.fakes import plain


def test_a_thumbnail_is_small_and_has_the_right_colours() -> None:
    frame = plain(1920, 1080)
    frame[..., :3] = (200, 100, 20)
    with Image.open(BytesIO(jpeg(downscaled(frame)))) as picture:
        assert (picture.format, picture.size) == ("JPEG", (640, 360))
        red, green, blue = np.asarray(picture)[180, 320]
    assert abs(int(red) - 20) < 6
    assert abs(int(green) - 100) < 6
    assert abs(int(blue) - 200) < 6


def test_a_thumbnail_does_not_change_with_the_frame() -> None:
    frame = plain(320, 240)
    thumbnail = downscaled(frame)
    before = jpeg(thumbnail)
    frame[:] = 0
    assert jpeg(thumbnail) == before
