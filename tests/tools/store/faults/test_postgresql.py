import pytest

from deskhand.tools.store.faults.postgresql import is_conflict, is_unusable


@pytest.mark.parametrize("code", [None, "08006", "53300", "57P01", "57P03", "58030", "55P03"])
def test_a_server_that_cannot_be_used_now(code: str | None) -> None:
    assert is_unusable(code)
    assert not is_conflict(code)


@pytest.mark.parametrize("code", ["23505", "40001", "40P01"])
def test_a_transaction_that_another_one_has_ended(code: str) -> None:
    assert is_conflict(code)
    assert not is_unusable(code)


@pytest.mark.parametrize("code", ["42P01", "23503", "22003", "57014"])
def test_a_defect_of_the_program(code: str) -> None:
    assert not is_unusable(code)
    assert not is_conflict(code)
