import numpy as np

from deskhand.desktop.screenshots.placeholder import BACKGROUND, card


def test_a_card_shows_words_in_the_middle_of_the_screens_pixels() -> None:
    pixels = card("private, 42 s", 640, 360)
    assert pixels.shape == (360, 640, 4)
    assert pixels.dtype == np.uint8
    assert tuple(pixels[0, 0, :3]) == BACKGROUND[::-1]
    inked = np.argwhere((pixels[:, :, :3] != BACKGROUND[::-1]).any(axis=2))
    assert len(inked) > 100
    assert abs(inked.mean(axis=0) - (180, 320)).max() < 20
