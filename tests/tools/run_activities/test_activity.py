from deskhand.tools.run_activities.activity import (
    Activity,
    control_sessions,
    in_order,
    without_texts,
)

STEP = {
    **{"index": 3, "tool": "human", "title": "Ada was in control", "text": "2 keys and 1 click"},
    **{"started_at": 5.0, "ended_at": 27.0, "video_start": 1.0, "video_end": 2.0},
}


def test_control_sessions_come_from_the_recording() -> None:
    private = STEP | {"index": 4, "title": None, "text": "0 keys and 0 clicks, in private"}
    other = STEP | {"tool": "computer"}
    assert control_sessions([STEP, private, other]) == [
        Activity("control-3", "control", "Ada", "2 keys and 1 click", 5.0, 27.0, False, 1.0, 2.0),
        Activity(
            *("control-4", "control", "A person", "0 keys and 0 clicks", 5.0, 27.0, True, 1.0, 2.0)
        ),
    ]


def test_activities_are_in_the_order_of_their_times() -> None:
    one, two = (Activity(str(at), "stop", "Ada", "", at) for at in (1.0, 2.0))
    assert in_order([two, one]) == (one, two)


def test_a_share_link_shows_no_texts_of_the_conversation() -> None:
    answer = Activity("1", "answer", "Ada", "blue", 1.0)
    control = control_sessions([STEP])[0]
    assert [one.text for one in without_texts((answer, control))] == ["", "2 keys and 1 click"]


def test_an_activity_has_a_form_for_the_api() -> None:
    assert Activity("1", "stop", "Ada", "", 1.0).to_json() == {
        **{"id": "1", "kind": "stop", "by": "Ada", "text": "", "at": 1.0, "ended_at": None},
        **{"private": False, "video_start": None, "video_end": None},
    }


def test_an_activity_has_words() -> None:
    private = Activity("1", "control", "Ada", "", 5.0, 27.4, private=True)
    assert private.words == "Ada had control, 22 s, private"
    assert Activity("1", "control", "", "", 5.0).words == "A person had control"
    assert Activity("1", "answer", "Ada", "blue", 1.0).words == "Ada answered: blue"
    assert Activity("1", "message", "Ada", "", 1.0).words == "Ada sent a message"
    assert Activity("1", "stop", "Ada", "", 1.0).words == "Ada stopped the agent"
