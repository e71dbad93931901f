from deskhand.tools.agents.providers.merged_messages import merged, picture_count, picture_ids
from deskhand.tools.conversation.conversation import Image, Message, Text, ToolResult

SHOT, OTHER = Image("f1", "image/png", 1, 1), Image("f0", "image/png", 1, 1)
FIRST = Message("user", (Text("a"), SHOT))
SECOND = Message("user", (ToolResult("c", (Text("b"), OTHER, SHOT)),))
REPLY = Message("assistant", (Text("c"),))


def test_messages_of_one_role_are_joined_and_others_stay_the_same_objects() -> None:
    found = merged([FIRST, SECOND, REPLY, FIRST])
    assert found[0] == Message("user", FIRST.content + SECOND.content)
    assert found[1] is REPLY
    assert found[2] is FIRST


def test_pictures_of_results_count_too() -> None:
    assert picture_count([FIRST, SECOND, REPLY]) == 3
    assert picture_ids([FIRST, SECOND, REPLY]) == ("f1", "f0")
