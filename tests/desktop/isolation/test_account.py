import json

from deskhand.desktop.isolation.account import (
    NUMBERS,
    Account,
    UserFiles,
    numbered_account,
    numbered_uids,
    user_files,
)
from deskhand.desktop.isolation.desktop_user import DesktopUser
from deskhand.desktop.uid_base import DEFAULT_UID_BASE, LARGEST_UID_BASE

ALICE = DesktopUser("alice", 1000, 1000)
HOST = UserFiles(
    "root:x:0:0:root:/root:/bin/bash\ndeskhand-07:x:998:998::/nonexistent:/bin/bash\n",
    "root:x:0:\ndeskhand-07:x:998:\n",
)


def test_no_two_numbers_share_an_id() -> None:
    found = [
        uid for number in (1, 2, 99, 100, NUMBERS[-1]) for uid in numbered_account(number).uids
    ]
    assert len(set(found)) == len(found)
    assert set(found) < set(numbered_uids(NUMBERS))
    assert set(numbered_uids(range(7, 9))) >= {*numbered_account(7).uids, *numbered_account(8).uids}


def test_ids_of_two_bases_never_overlap() -> None:
    one, other = numbered_uids(NUMBERS), numbered_uids(NUMBERS, DEFAULT_UID_BASE + 100_000)
    assert one[-1] < other[0]
    assert numbered_uids(NUMBERS, LARGEST_UID_BASE)[-1] < 2**31


def test_an_account_survives_a_message() -> None:
    for account in (numbered_account(7).joining(5), Account.of_one_user(ALICE, "user")):
        assert Account.from_json(json.loads(json.dumps(account.to_json()))) == account


def test_a_requested_user_is_all_users() -> None:
    account = Account.of_one_user(ALICE, "user")
    assert (account.uids, account.separated, account.numbered) == ((1000,), False, False)
    assert account.joining(5).service.groups == (5,)
    assert account.joining(None) is account


def test_a_desktop_sees_its_own_users_beside_those_of_the_host() -> None:
    account = numbered_account(7)
    files = user_files(account, "/d/home", HOST)
    lines = files.passwd.splitlines()
    assert lines[0] == "root:x:0:0:root:/root:/bin/bash"
    uid = account.agent.uid
    # A user of an earlier version, with another id, would hide this one.
    assert lines[1] == f"deskhand-07:x:{uid}:{uid}:Deskhand desktop:/d/home:/bin/bash"
    assert "998" not in files.passwd + files.group
    assert f"deskhand-07:x:{uid}:" in files.group.splitlines()


def test_the_group_of_the_working_directory_is_for_the_agent() -> None:
    bob = DesktopUser("bob", 1001, 1001)
    account = Account(ALICE, "user", service=bob, browser=bob).joining(5)
    assert (account.separated, account.dropped, account.uids) == (True, True, (1000, 1001))
    assert (account.agent.groups, account.service.groups) == ((5,), ())


def test_the_service_has_another_user_than_the_agent() -> None:
    account = numbered_account(7)
    assert (account.agent.name, account.service.name) == ("deskhand-07", "deskhand-07-s")
    assert account.separated
    assert account.agent.uid not in (account.service.uid, account.service.gid)


def test_the_browser_is_in_the_group_of_the_agent() -> None:
    account = numbered_account(7, browser_separated=True).joining(5)
    agent, browser = account.agent, account.browser
    assert (browser.name, browser.groups) == ("deskhand-07-b", (agent.gid, 5))
    assert account.browser_separated
    assert len(set(account.uids)) == 3
    assert set(account.uids) <= set(numbered_uids(range(7, 8)))
    files = user_files(account, "/d/home", HOST, browser_home="/d/run/browser")
    assert f"{browser.name}:x:{browser.uid}:{browser.gid}:Deskhand desktop:/d/run/browser" in (
        files.passwd
    )
    assert f"{agent.name}:x:{agent.gid}:{browser.name}" in files.group.splitlines()
    assert not numbered_account(7).browser_separated
