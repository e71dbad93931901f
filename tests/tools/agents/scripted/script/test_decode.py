from deskhand.tools.agents.scripted.script.decode import decoded_here, pixels
from tests.tools.agents.loop.fakes import encoded, screen


def test_pixels_come_back_as_they_were() -> None:
    drawn = screen(((1, 2, 5, 6), (1, 2, 3)), size=(40, 30))
    assert (pixels(encoded(drawn), decoded_here) == drawn).all()
