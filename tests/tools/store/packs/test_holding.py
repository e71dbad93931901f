"""Which pictures become a pack, and when."""

from deskhand.tools.store.packs.holding import (
    EARLY,
    LATER,
    MOST_BYTES,
    MOST_PICTURES,
    HeldPicture,
    Holding,
)

AT_REST: dict[str, int] = {}


def picture(name: str, at: float = 0.0, chat: str = "c", size: int = 1) -> HeldPicture:
    return HeldPicture(name, chat, size, at)


def test_pictures_of_chats_at_rest_are_packed_at_once_and_apart() -> None:
    held = [picture("2", 2.0), picture("1", 1.0), picture("3", chat="d")]
    assert Holding().due(held, AT_REST, 2.0) == [
        (picture("1", 1.0), picture("2", 2.0)),
        (picture("3", chat="d"),),
    ]
    assert Holding().due([], AT_REST, 2.0) == []


def test_pictures_of_a_turn_at_work_are_held() -> None:
    held = [picture("1"), picture("2", chat="d")]
    assert Holding().due(held, {"c": 1}, 1.0) == [(picture("2", chat="d"),)]


def test_a_turn_makes_three_packs_however_many_steps_it_has() -> None:
    holding, packs, held, most = Holding(), [], [], 0
    for second in range(4000):
        running = {"c": 1} if second < 3999 else AT_REST
        held.append(picture(f"{second:04}", float(second)))
        for pack in holding.due(held, running, float(second)):
            packs.append(len(pack))
            held = []
            holding.made("c", running)
        most = max(most, len(held))
    assert packs == [61, 601, 3338]
    assert most == 3337


def test_an_hour_of_a_turn_without_an_end_is_one_more_pack() -> None:
    holding, packs, held = Holding(), 0, [picture("0")]
    for minute in range(60 * 10):
        for _ in holding.due(held, {"c": 1}, minute * 60.0):
            packs += 1
            held = []
            holding.made("c", {"c": 1})
        held = held or [picture("0", minute * 60.0)]
    assert packs == 2 + 9


def test_bytes_count_as_time_does() -> None:
    holding = Holding()
    for limits in (*EARLY, LATER):
        assert holding.due([picture("1", size=limits.size - 1)], {"c": 1}, 0.0) == []
        assert holding.due([picture("1", size=limits.size)], {"c": 1}, 0.0) != []
        holding.made("c", {"c": 1})


def test_the_next_turn_counts_anew() -> None:
    holding, old = Holding(), [picture("1")]
    holding.made("c", {"c": 1})
    assert holding.due(old, {"c": 1}, 60.0) == []
    assert holding.due(old, {"c": 2}, 60.0) == [(picture("1"),)]
    # A turn that has ended is forgotten, as is a pack that was made after it.
    holding.due([], AT_REST, 60.0)
    assert holding.due(old, {"c": 1}, 60.0) == [(picture("1"),)]
    holding.made("c", AT_REST)
    assert holding.due(old, {"c": 1}, 60.0) == [(picture("1"),)]


def test_a_pack_is_never_too_large() -> None:
    large = [picture(str(n), size=MOST_BYTES // 2) for n in range(3)]
    assert [len(pack) for pack in Holding().due(large, AT_REST, 0.0)] == [2, 1]
    assert len(Holding().due([picture("1", size=MOST_BYTES * 2)], AT_REST, 0.0)) == 1
    many = [picture(f"{n:05}") for n in range(MOST_PICTURES + 1)]
    assert [len(pack) for pack in Holding().due(many, AT_REST, 0.0)] == [MOST_PICTURES, 1]


def test_packs_that_another_control_plane_has_made_of_the_turn_count() -> None:
    holding, old, running = Holding(), [picture("1")], {"c": 1}
    assert holding.uncounted({}) == set()
    assert holding.uncounted(running) == {"c"}
    holding.count({"c": 1}, running)
    assert holding.uncounted(running) == set()
    assert holding.due(old, running, EARLY[0].seconds) == []
    assert holding.due(old, running, EARLY[1].seconds) == [(picture("1"),)]
    assert holding.uncounted({"c": 2}) == {"c"}
