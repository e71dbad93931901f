import json

from deskhand.desktop.isolation.desktop_user import DesktopUser


def test_a_user_is_the_same_after_its_message() -> None:
    user = DesktopUser("alice", 1001, 1002, (5, 6))
    assert DesktopUser.parse(json.loads(json.dumps(user))) == user
