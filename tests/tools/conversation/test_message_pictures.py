import pytest

from deskhand.tools.conversation.conversation import Image, Message, Text, ToolResult
from deskhand.tools.conversation.message_pictures import picture_count, without_first_pictures

FIRST, SECOND, THIRD = (Image(f"f{n}", "image/png", 1280, 720) for n in (1, 2, 3))
MESSAGE = Message("user", (ToolResult("c", (Text("ok"), FIRST, SECOND)), THIRD, Text("Look.")))


def line(number: int) -> Text:
    return Text(f"[An earlier picture, 1280x720, left out here: file f{number}]")


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, MESSAGE.content),
        (1, (ToolResult("c", (Text("ok"), line(1), SECOND)), THIRD, Text("Look."))),
        (3, (ToolResult("c", (Text("ok"), line(1), line(2))), line(3), Text("Look."))),
    ],
)
def test_the_oldest_pictures_of_a_message_become_lines(count: int, expected: object) -> None:
    made = without_first_pictures(MESSAGE, count)
    assert made.content == expected
    assert picture_count(made) == 3 - count
