from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.actions.catalog import Screenshot
from deskhand.desktop.actions.schema import screenshot_parameters
from deskhand.desktop.actions.screenshot_query import PARAMETERS, screenshot_request, without_wait
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.geometry import Region, Size
from deskhand.desktop.screenshots.options import PictureOptions

NATIVE = Size(1920, 1080)


def refused(*query: tuple[str, str]) -> InvalidAction:
    with pytest.raises(InvalidAction) as caught:
        screenshot_request(query, NATIVE)
    return caught.value


def test_a_query_of_nothing_asks_for_the_screen_as_models_see_it() -> None:
    request = screenshot_request([], NATIVE)
    assert request.action == Screenshot(None, PictureOptions())
    assert request.space.picture == Size(1280, 720)


def test_every_parameter_is_read() -> None:
    query = {
        "region": "-1, 2,3 ,4",
        "format": "webp",
        "quality": "7",
        "cursor": "0",
        "since": "b-1",
        "scaled_width": "640",
        "scaled_height": "360",
    }
    request = screenshot_request(query.items(), NATIVE)
    options = PictureOptions("webp", 7, False, "b-1")
    assert request.action == Screenshot(Region(-1, 2, 3, 4), options)
    assert request.space.size == Size(640, 360)
    assert screenshot_request([("coordinate_space", "native")], NATIVE).space.name == "native"


def test_the_parameters_are_those_that_are_documented() -> None:
    assert set(PARAMETERS) == {parameter["name"] for parameter in screenshot_parameters()}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (("region", "1,2,3"), "four whole numbers: x1,y1,x2,y2."),
        (("region", "1,2,3,4,5"), "four whole numbers: x1,y1,x2,y2."),
        (("region", "1,2,3,x"), "four whole numbers: x1,y1,x2,y2."),
        (("region", "1,2,3,4.5"), "four whole numbers: x1,y1,x2,y2."),
        (("region", ""), "four whole numbers: x1,y1,x2,y2."),
        (("region", "1,2,3," + "9" * 16), "four whole numbers: x1,y1,x2,y2."),
        (("quality", "x"), 'The parameter "quality" must be a whole number.'),
        (("quality", "101"), '"quality" must be from 1 to 100.'),
        (("scaled_width", "1e3"), 'The parameter "scaled_width" must be a whole number.'),
        (("scaled_width", "640"), 'Give both "scaled_width" and "scaled_height"'),
        (("cursor", "maybe"), 'The parameter "cursor" must be true or false.'),
        (("format", "gif"), '"format" must be one of png, jpeg, webp.'),
        (("since", "x" * 100_001), '"since" must have at most'),
        (("coordinate_space", "scaled"), '"coordinate_space" must be one of'),
        (("action", "left_click"), 'Unknown parameter "action".'),
        (("observe", "true"), 'Unknown parameter "observe".'),
        (("text", "a"), 'Unknown parameter "text".'),
    ],
)
def test_a_wrong_query_is_refused_in_terms_of_the_query(
    query: tuple[str, str], message: str
) -> None:
    error = refused(query)
    assert message in error.message
    assert "body" not in str(error)


def test_the_error_of_a_misspelt_parameter_has_its_spelling() -> None:
    assert refused(("regoin", "1,2,3,4")).detail == 'Did you mean "region"?'


def test_a_repeated_parameter_is_refused() -> None:
    error = refused(("quality", "5"), ("quality", "5"))
    assert error.message == 'The parameter "quality" is there twice.'


texts = st.text(max_size=9) | st.sampled_from(["1,2,3,4", "0,0,0,0", "1", "true", "native"])


@given(st.lists(st.tuples(st.sampled_from(PARAMETERS) | st.text(max_size=9), texts), max_size=4))
def test_whatever_the_query_it_is_read_or_refused(query: list[tuple[str, str]]) -> None:
    with suppress(InvalidAction):
        assert isinstance(screenshot_request(query, NATIVE).action, Screenshot)


@pytest.mark.parametrize(
    ("query", "rest", "wait"),
    [
        ([], [], 0.0),
        ([("wait", "25")], [], 25.0),
        ([("format", "png"), ("wait", "0.5")], [("format", "png")], 0.5),
    ],
)
def test_the_time_to_wait_is_not_part_of_the_picture(
    query: list[tuple[str, str]], rest: list[tuple[str, str]], wait: float
) -> None:
    assert without_wait(query) == (rest, wait)


@pytest.mark.parametrize("value", ["", "-1", "61", "nan", "1e3", "ten"])
def test_a_time_that_cannot_be_waited_is_refused(value: str) -> None:
    with pytest.raises(InvalidAction, match="0 to 60 seconds"):
        without_wait([("wait", value)])


def test_two_times_to_wait_are_refused() -> None:
    with pytest.raises(InvalidAction, match="twice"):
        without_wait([("wait", "1"), ("wait", "2")])
