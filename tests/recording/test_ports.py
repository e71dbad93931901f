from deskhand.recording.ports import MOST_PLACES, joined

A, B = (0, 0, 8, 8), (8, 0, 16, 8)


def test_changed_regions_add_up_without_duplicates() -> None:
    assert joined((), ()) == ()
    assert joined((A,), (B, A)) == (A, B)


def test_one_unknown_frame_makes_the_sum_unknown() -> None:
    assert joined(None, (A,)) is None
    assert joined((A,), None) is None


def test_too_many_regions_count_as_anywhere() -> None:
    many = tuple((x, 0, x + 1, 1) for x in range(MOST_PLACES))
    assert joined((), many) == many
    assert joined(many, (A,)) is None
