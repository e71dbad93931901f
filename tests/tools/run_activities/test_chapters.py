from deskhand.tools.run_activities.activity import Activity
from deskhand.tools.run_activities.chapters import chapter_rows, video_time

TIME_MAP = [(100.0, 0.0), (110.0, 10.0), (110.0, 10.0), (210.0, 11.0)]


def test_a_time_has_its_second_of_the_video() -> None:
    assert [video_time(at, TIME_MAP) for at in (100, 105, 110, 160, 210)] == [0, 5, 10, 10.5, 11]
    assert [video_time(at, TIME_MAP) for at in (99.9, 210.1)] == [None, None]
    assert video_time(1.0, []) is None


def test_what_people_did_is_among_the_steps() -> None:
    steps = [
        {"tool": "computer", "title": "Click", "video_start": 6.0, "video_end": 6.5},
        {"tool": "human", "title": "Ada was in control", "video_start": 1.0, "video_end": 3.0},
    ]
    people = [
        Activity("1", "control", "Ada", "", 101.0, 103.0, False, 1.0, 3.0),
        Activity("2", "answer", "Ada", "blue", 105.0),
        Activity("3", "stop", "Ada", "", 999.0),
    ]
    assert chapter_rows(steps, people, TIME_MAP) == [
        {"title": "Ada had control, 2 s", "video_start": 1.0, "video_end": 3.0},
        {"title": "Ada answered: blue", "video_start": 5.0, "video_end": 5.0},
        steps[0],
    ]
