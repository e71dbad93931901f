import numpy as np

from deskhand.desktop.screenshots.placeholder import BACKGROUND, placeholder_frame


def test_a_placeholder_frame_shows_its_text_in_the_middle() -> None:
    pixels = placeholder_frame("private, 42 s", 640, 360)
    assert pixels.shape == (360, 640, 4)
    assert pixels.dtype == np.uint8
    assert tuple(pixels[0, 0, :3]) == BACKGROUND[::-1]
    inked = np.argwhere((pixels[:, :, :3] != BACKGROUND[::-1]).any(axis=2))
    assert len(inked) > 100
    assert abs(inked.mean(axis=0) - (180, 320)).max() < 20
