import pytest

from deskhand.desktop.isolation.protections import (
    COSTS,
    LOSSES,
    NAMES,
    Protection,
    Protections,
    limited,
    none_at_all,
    of_applications,
    reason_of_level,
    separate_users,
    separated,
)


def test_a_desktop_with_namespaces_has_nothing_to_report() -> None:
    found = Protections((separated(""),))
    assert found.to_json() == [{"name": "namespaces", "state": "on", "because": None}]
    assert found.warnings == []


def test_a_refusal_is_reported_with_its_reason() -> None:
    found = separated("unshare: Operation not permitted")
    assert found.missing
    assert str(found) == "namespaces: none, because unshare: Operation not permitted"


def test_a_protection_replaces_the_one_of_its_name() -> None:
    weak = Protection("limits", "enforced by keeper", "no controllers")
    found = none_at_all("it is shared", ("namespaces", "limits")).adding(weak)
    assert [entry.name for entry in found.entries] == ["namespaces", "limits"]
    # A protection that is enforced in another way is not missing.
    assert found.warnings == ["namespaces: none, because it is shared"]
    assert not weak.missing


def test_limits_without_a_control_group_are_enforced_by_the_keeper() -> None:
    assert str(limited("")) == "limits: on"
    assert str(limited("no cgroup")) == "limits: enforced by keeper, because no cgroup"


def test_without_namespaces_separate_users_are_weaker() -> None:
    assert str(separate_users("")) == "separate users: on"
    found = separate_users("refused")
    assert (found.state, found.missing, bool(found.reason)) == ("weak", False, True)


def test_every_protection_has_a_loss_and_some_have_a_cost() -> None:
    assert tuple(LOSSES) == NAMES
    assert set(COSTS) <= set(NAMES)
    assert Protection("limits", "none").effect == LOSSES["limits"]
    assert Protection("limits", "on").effect == COSTS["limits"]
    assert Protection("namespaces", "on").effect == ""


def test_without_a_reason_the_state_stands_alone() -> None:
    assert str(separated("")) == "namespaces: on"


@pytest.mark.parametrize(
    ("level", "attached", "reason"),
    [
        ("shared", False, "the desktop runs as the user who started it"),
        ("shared", True, "the desktop is a screen that existed before"),
        ("user", False, "the desktop runs as a user that was requested"),
        ("root", False, "the desktop runs as a user that was requested"),
    ],
)
def test_other_levels_lack_every_protection(level: str, attached: bool, reason: str) -> None:
    found = none_at_all(reason_of_level(level, attached=attached))
    assert [entry.name for entry in found.entries] == list(NAMES)
    assert {entry.reason for entry in found.entries} == {reason}


def test_a_browser_of_its_own_user_leaves_only_filtered_clients_to_the_agent() -> None:
    clients, stop = of_applications(glx=False)
    assert (clients.state, clients.reason, stop.state) == ("on", "", "on")


def test_a_browser_of_the_agents_user_weakens_the_protection_of_the_screen() -> None:
    clients, stop = of_applications(glx=False, refused="no namespaces")
    assert (clients.name, clients.missing, bool(clients.reason)) == (
        "filtered X clients",
        False,
        True,
    )
    assert (stop.name, stop.state) == ("stop in private", "on")
    assert of_applications(glx=True)[0].missing


def test_without_a_control_group_the_stop_in_private_is_weak() -> None:
    _, stop = of_applications(glx=False, ungrouped="no cgroup v2 is mounted")
    assert (stop.state, stop.missing) == ("weak", False)
    assert stop.reason is not None
    assert stop.reason.endswith(": no cgroup v2 is mounted")
