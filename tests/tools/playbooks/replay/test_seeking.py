from deskhand.tools.playbooks.replay.seeking import MOST_SEEKS, seek_direction

MOVED = "Scrolled down. 30 % of the screen changed."
END = "Scrolled down. Nothing of the screen changed."


def test_a_search_scrolls_down_to_the_end_and_then_up() -> None:
    assert seek_direction(()) == "down"
    assert seek_direction((MOVED, MOVED)) == "down"
    assert seek_direction((MOVED, END)) == "up"
    assert seek_direction((MOVED, END, MOVED)) == "up"
    assert seek_direction((MOVED, END, "Scrolled up. Less than 1 % of the screen changed.")) is None


def test_a_page_without_end_is_left() -> None:
    assert seek_direction((MOVED,) * MOST_SEEKS) is None
