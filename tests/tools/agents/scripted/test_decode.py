import pytest

from deskhand.tools.agents.scripted.decode import measure, pixels
from deskhand.tools.agents.scripted.protocol import Measured
from tests.tools.agents.loop.fakes import encoded, screen


@pytest.mark.parametrize(
    ("form", "media_type"),
    [("png", "image/png"), ("jpeg", "image/jpeg"), ("webp", "image/webp"), ("gif", "image/gif")],
)
def test_pictures_are_measured_by_their_bytes(form: str, media_type: str) -> None:
    data = encoded(screen(size=(40, 30)), form)
    assert measure(data) == Measured(media_type, 40, 30)


@pytest.mark.parametrize("data", [b"", b"no picture", encoded(screen(size=(4, 4)), "bmp")])
def test_what_is_no_picture_for_the_provider_has_no_measure(data: bytes) -> None:
    assert measure(data) is None


def test_pixels_come_back_as_they_were() -> None:
    drawn = screen(((1, 2, 5, 6), (1, 2, 3)), size=(40, 30))
    assert (pixels(encoded(drawn)) == drawn).all()
