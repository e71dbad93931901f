import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from deskhand.desktop.errors import AccountUnavailable
from deskhand.desktop.isolation.account import USER_LOCKS, claimed, desktop_users, user_numbers

AS_ROOT = os.geteuid() == 0
MISSING = "no-such-user-here"


def test_an_unprivileged_user_runs_as_itself_only(tmp_path: Path) -> None:
    if AS_ROOT:
        with pytest.raises(AccountUnavailable, match=MISSING), claimed(MISSING, tmp_path):
            pytest.fail("must not be claimed")
        return
    with claimed(None, tmp_path) as account:
        assert (account.uid, account.level, account.dropped) == (os.getuid(), "shared", False)
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
        assert first.name != second.name
        assert first.uid != second.uid
        assert first.level == second.level == "user"
        assert pwd.getpwnam(first.name).pw_dir == "/nonexistent"
        assert {first.uid, second.uid} < desktop_users(numbers)
    last = numbers[-1:]
    with claimed(None, tmp_path, last) as only:
        assert only.name == f"deskhand-{last[0]:02}"
        with pytest.raises(AccountUnavailable, match="all 1"), claimed(None, tmp_path, last):
            pytest.fail("must not be claimed")
    with claimed(None, tmp_path, last) as again:
        assert again == only


@pytest.mark.parametrize(
    ("text", "numbers"), [("", range(1, 100)), ("7-9", range(7, 10)), ("99-99", range(99, 100))]
)
def test_the_users_of_desktops_may_be_a_part_of_all(text: str, numbers: range) -> None:
    assert user_numbers({"DESKHAND_USERS": text}) == numbers
    assert user_numbers({}) == range(1, 100)


@pytest.mark.parametrize("text", ["1", "0-5", "5-4", "1-100", "a-b", "-1-2", "1-2-3"])
def test_what_is_no_range_of_users_is_refused(text: str) -> None:
    with pytest.raises(AccountUnavailable, match="DESKHAND_USERS"):
        user_numbers({"DESKHAND_USERS": text})


def test_root_stays_root_only_on_request(tmp_path: Path) -> None:
    if not AS_ROOT:
        assert os.geteuid() != 0
        return
    with claimed("root", tmp_path) as account:
        assert (account.level, account.dropped) == ("root", False)


def test_dropped_privileges_cannot_be_regained() -> None:
    if not AS_ROOT:
        assert os.geteuid() != 0
        return
    script = (
        "import os\n"
        "from pathlib import Path\n"
        "from deskhand.desktop.isolation.account import Account, become\n"
        "become(Account('nobody', 65534, 65534, 'user'))\n"
        "print(os.getresuid(), os.getresgid(), os.getgroups())\n"
        "status = Path('/proc/self/status').read_text()\n"
        "print('NoNewPrivs:\\t1' in status)\n"
        "try:\n"
        "    os.setuid(0)\n"
        "except PermissionError:\n"
        "    print('refused')\n"
    )
    root = Path(__file__).parents[3]
    shown = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert shown == ["(65534, 65534, 65534) (65534, 65534, 65534) []", "True", "refused"]
