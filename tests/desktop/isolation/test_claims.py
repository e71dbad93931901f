import os
from pathlib import Path

import pytest

from deskhand.desktop.errors import AccountUnavailable
from deskhand.desktop.isolation.claims import USER_LOCKS, claimed, desktop_users, user_numbers

AS_ROOT = os.geteuid() == 0
MISSING = "no-such-user-here"


def test_an_unprivileged_user_runs_as_itself_only(tmp_path: Path) -> None:
    if AS_ROOT:
        with pytest.raises(AccountUnavailable, match=MISSING), claimed(MISSING, tmp_path):
            pytest.fail("must not be claimed")
        return
    with claimed(None, tmp_path) as account:
        assert (account.agent.uid, account.level, account.dropped) == (os.getuid(), "shared", False)
    with pytest.raises(AccountUnavailable, match="only root"), claimed(MISSING, tmp_path):
        pytest.fail("must not be claimed")


def test_two_desktops_of_root_never_share_a_user(tmp_path: Path) -> None:
    if not AS_ROOT:
        assert not list(tmp_path.iterdir())
        return
    numbers = user_numbers(os.environ)
    with (
        claimed(None, USER_LOCKS, numbers) as first,
        claimed(None, USER_LOCKS, numbers) as second,
    ):
        assert first.agent.name != second.agent.name
        assert not {*first.uids} & {*second.uids}
        assert first.level == second.level == "user"
        assert {*first.uids, *second.uids} < desktop_users(numbers)
    last = numbers[-1:]
    with claimed(None, tmp_path, last) as only:
        assert only.agent.name == f"deskhand-{last[0]:02}"
        with pytest.raises(AccountUnavailable, match="all 1"), claimed(None, tmp_path, last):
            pytest.fail("must not be claimed")
    with claimed(None, tmp_path, last) as again:
        assert again == only


@pytest.mark.parametrize(
    ("text", "numbers"), [("", range(1, 10_000)), ("7-9", range(7, 10)), ("99-99", range(99, 100))]
)
def test_the_users_of_desktops_may_be_a_part_of_all(text: str, numbers: range) -> None:
    assert user_numbers({"DESKHAND_USERS": text}) == numbers
    assert user_numbers({}) == range(1, 10_000)


@pytest.mark.parametrize("text", ["1", "0-5", "5-4", "1-10000", "a-b", "-1-2", "1-2-3"])
def test_what_is_no_range_of_users_is_refused(text: str) -> None:
    with pytest.raises(AccountUnavailable, match="DESKHAND_USERS"):
        user_numbers({"DESKHAND_USERS": text})


def test_root_stays_root_only_on_request(tmp_path: Path) -> None:
    if not AS_ROOT:
        assert os.geteuid() != 0
        return
    with claimed("root", tmp_path) as account:
        assert (account.level, account.dropped) == ("root", False)
