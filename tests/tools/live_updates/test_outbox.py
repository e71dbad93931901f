from deskhand.tools.live_updates.outbox import Outbox


def test_events_keep_their_order_and_go_before_pictures() -> None:
    box = Outbox()
    box.show("a", b"1")
    box.add("first")
    box.add("second")
    assert [box.take() for _ in range(4)] == ["first", "second", b"1", None]


def test_of_each_screen_the_newest_picture_is_kept() -> None:
    box = Outbox()
    for topic, image in (("a", b"1"), ("b", b"2"), ("a", b"3")):
        box.show(topic, image)
    assert [box.take() for _ in range(3)] == [b"2", b"3", None]


def test_the_picture_of_a_topic_that_ended_is_dropped() -> None:
    box = Outbox()
    box.show("a", b"1")
    box.forget("a")
    box.forget("b")
    assert box.take() is None


def test_a_page_that_does_not_read_fills_it() -> None:
    box = Outbox(most=2)
    for number in range(2):
        box.add(str(number))
    assert not box.full
    box.add("2")
    assert box.full
