import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from deskhand.desktop.errors import AccountUnavailable
from deskhand.desktop.isolation.account import claimed

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
    with claimed(None, tmp_path) as first, claimed(None, tmp_path) as second:
        assert first.name != second.name
        assert first.uid != second.uid
        assert first.level == second.level == "user"
        assert pwd.getpwnam(first.name).pw_dir == "/nonexistent"
    with claimed(None, tmp_path) as again:
        assert again.name == first.name


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
