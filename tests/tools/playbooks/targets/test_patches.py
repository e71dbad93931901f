"""Requests that search for the picture of a target."""

import base64

import numpy as np
import pytest

from deskhand.desktop.geometry import Point
from deskhand.desktop.targets.patch_png import patch_png
from deskhand.desktop.targets.patch_search import PixelPatch, cut
from deskhand.tools.playbooks.targets.patches import patch_search, picture_size

SCREEN = (1280, 720)
FRAME = np.zeros((720, 1280, 4), np.uint8)


@pytest.mark.parametrize("point", [(0, 0), (1279, 719), (640, 360), (10, 715), (1270, 3)])
def test_the_point_is_where_it_was_when_the_picture_was_cut(point: tuple[int, int]) -> None:
    picture, at = cut(FRAME, Point(*point))
    file = patch_png(PixelPatch(picture))
    body = patch_search(file, point, SCREEN, SCREEN)
    assert body["point"] == list(at)
    assert base64.b64decode(body["patch"]) == file


def test_without_a_point_the_middle_is_wanted() -> None:
    file = patch_png(PixelPatch(FRAME[:40, :64, :3]))
    assert "point" not in patch_search(file, None, SCREEN, SCREEN)
    assert picture_size(file) == (64, 40)


@pytest.mark.parametrize("file", [b"", b"GIF89a" + bytes(40), b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_of_another_file_nothing_is_known(file: bytes) -> None:
    assert picture_size(file) is None
    assert "point" not in patch_search(file, (1, 2), SCREEN, SCREEN)


@pytest.mark.parametrize(
    ("shown", "scale"),
    [((1280, 720), 1), ((1920, 1080), 1.5), ((1024, 768), None), ((12800, 7200), None)],
)
def test_a_screen_of_the_same_form_may_show_it_larger(
    shown: tuple[int, int], scale: float | None
) -> None:
    assert patch_search(b"", None, SCREEN, shown).get("scale") == scale
