"""Requests in the form in which scripts are played."""

from deskhand.tools.agents.scripted.script.request import InvalidRequest, Measured, SeenPicture


def test_an_invalid_request_names_the_place_of_its_problem() -> None:
    error = InvalidRequest("messages.0.role", "is missing")
    assert str(error) == "messages.0.role: is missing"
    assert (error.where, error.problem) == ("messages.0.role", "is missing")


def test_the_representation_of_a_picture_leaves_out_its_bytes() -> None:
    picture = SeenPicture(b"\x89PNG", Measured("image/png", 4, 3))
    assert "PNG" not in repr(picture)
    assert "image/png" in repr(picture)
