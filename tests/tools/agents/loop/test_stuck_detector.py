from deskhand.tools.agents.loop.stuck_detector import LONGEST_ROW, StuckDetector
from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult

LOOK = ToolCall("c", "execute", {"command": "ls"})


def told(text: str) -> ToolResult:
    return ToolResult("c", (Text(text),))


def barks(calls: list[tuple[ToolCall, ToolResult]]) -> list[bool]:
    watchdog = StuckDetector()
    return [watchdog.record(call, result) for call, result in calls]


def test_the_same_again_and_again_is_noticed_whatever_the_clock_says() -> None:
    seen = barks([(LOOK, told(f"nothing, after {i} ms")) for i in range(LONGEST_ROW)])
    assert seen == [False] * (LONGEST_ROW - 1) + [True]


def test_another_call_another_answer_and_a_new_picture_begin_anew() -> None:
    other = ToolCall("c", "execute", {"command": "pwd"})
    shot = ToolResult("c", (Text("Done."), Image("f", "image/png", 1280, 720)))
    for change in ((other, told("a")), (LOOK, told("b")), (LOOK, shot)):
        row = [(LOOK, told("a"))] * (LONGEST_ROW - 1)
        assert not any(barks([*row, change, *row]))


def test_waiting_counts_neither_for_nor_against() -> None:
    wait = ToolCall("c", "wait", {"duration": 1}, "computer")
    same = told("a")
    assert not any(barks([(wait, same)] * 3 * LONGEST_ROW))
    assert barks([(LOOK, same), (wait, same)] * LONGEST_ROW)[-2]
