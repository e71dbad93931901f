from deskhand.recording.ports import MOST_PLACES, joined

A, B = (0, 0, 8, 8), (8, 0, 16, 8)


def test_places_add_up_and_each_is_named_once() -> None:
    assert joined((), ()) == ()
    assert joined((A,), (B, A)) == (A, B)


def test_where_one_is_unknown_all_is() -> None:
    assert joined(None, (A,)) is None
    assert joined((A,), None) is None


def test_too_many_places_are_as_good_as_everywhere() -> None:
    many = tuple((x, 0, x + 1, 1) for x in range(MOST_PLACES))
    assert joined((), many) == many
    assert joined(many, (A,)) is None
