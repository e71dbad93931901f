from deskhand.recording.step import Step


def test_moving_a_step_moves_both_ends() -> None:
    moved = Step(started=1.0, ended=2.0).moved(10.0)
    assert (moved.started, moved.ended) == (11.0, 12.0)


def test_all_words_of_a_step_are_masked() -> None:
    step = Step(action="type", text="my hunter2", title="hunter2!", error="no hunter2", started=1.0)
    shown = step.masked(lambda text: text.replace("hunter2", "[secret]"))
    assert (shown.text, shown.title, shown.error) == ("my [secret]", "[secret]!", "no [secret]")
    assert (shown.action, shown.started) == ("type", 1.0)
    assert Step().masked(str.upper) == Step()
