from deskhand.tools.agents.loop.stuck_detector import LONGEST_ROW, StuckDetector
from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult

LIST = ToolCall("c", "execute", {"command": "ls"})


def result(text: str) -> ToolResult:
    return ToolResult("c", (Text(text),))


def stuck_after(calls: list[tuple[ToolCall, ToolResult]]) -> list[bool]:
    detector = StuckDetector()
    return [detector.record(call, result) for call, result in calls]


def test_equal_calls_are_detected_despite_changing_numbers() -> None:
    seen = stuck_after([(LIST, result(f"nothing, after {i} ms")) for i in range(LONGEST_ROW)])
    assert seen == [False] * (LONGEST_ROW - 1) + [True]


def test_another_call_another_answer_and_a_new_picture_begin_anew() -> None:
    other = ToolCall("c", "execute", {"command": "pwd"})
    shot = ToolResult("c", (Text("Done."), Image("f", "image/png", 1280, 720)))
    for change in ((other, result("a")), (LIST, result("b")), (LIST, shot)):
        row = [(LIST, result("a"))] * (LONGEST_ROW - 1)
        assert not any(stuck_after([*row, change, *row]))


def test_waiting_counts_neither_for_nor_against() -> None:
    wait = ToolCall("c", "wait", {"duration": 1}, "computer")
    same = result("a")
    assert not any(stuck_after([(wait, same)] * 3 * LONGEST_ROW))
    assert stuck_after([(LIST, same), (wait, same)] * LONGEST_ROW)[-2]


def test_the_same_picture_again_is_no_progress() -> None:
    look = ToolCall("c", "screenshot", {}, "computer")
    shots = [ToolResult("c", (Image(f"f{n}", "image/png", 1280, 720),)) for n in range(2)]
    assert stuck_after([(look, shots[0])] * (LONGEST_ROW + 1))[-1]
    assert not any(stuck_after([(look, shots[0]), (look, shots[1])] * LONGEST_ROW))


def test_equal_problems_of_replies_are_detected_and_a_call_begins_anew() -> None:
    detector = StuckDetector()
    row = [detector.record_problems(("The call of a was not run.",)) for _ in range(LONGEST_ROW)]
    assert row == [False] * (LONGEST_ROW - 1) + [True]
    assert not detector.record(LIST, result("a"))
    assert not detector.record_problems(("The call of a was not run.",))
