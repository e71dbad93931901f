import pytest

from deskhand.desktop.uid_base import DEFAULT_UID_BASE, uid_base_problem


@pytest.mark.parametrize("base", [0, 1, 99_999, 2_000_000_001, 2_147_500_000, 4_000_000_000])
def test_what_is_no_base_of_ids_is_refused(base: int) -> None:
    assert f"not {base}" in uid_base_problem(base)
    assert uid_base_problem(DEFAULT_UID_BASE) == uid_base_problem(100_000) == ""
