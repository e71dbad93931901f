from deskhand.tools.conversation.stranded import stranded


def test_a_chat_without_a_task_is_resumed() -> None:
    assert stranded([("a", 10.0), ("b", 10.0)], {"b"}, 20.0) == ("a",)


def test_a_chat_whose_task_may_be_about_to_start_is_left_alone() -> None:
    assert stranded([("a", 15.1)], (), 20.0) == ()
    assert stranded([("a", 15.0)], (), 20.0) == ("a",)
