from dataclasses import fields

from deskhand.tools.cluster.gate.node_settings import (
    SETTINGS,
    foreign_settings,
    node_environment,
    ray_environment,
)
from deskhand.tools.control_plane.settings import Settings

SECRET = {
    "AWS_SECRET_ACCESS_KEY": "s",
    "ANTHROPIC_API_KEY": "s",
    "DESKHAND_DATABASE": "postgresql://u:s@h/d",
    "DESKHAND_NOTIFY_SECRET": "s",
    "DESKHAND_SECRETS_KEY": "s",
    "DESKHAND_STORE": "s3://b",
    "PGPASSWORD": "s",
    "RAY_AUTH_TOKEN": "s",
}


def test_a_node_keeps_what_it_needs_and_nothing_else() -> None:
    needed = {"PATH": "/bin", "LC_TIME": "C", "DESKHAND_PLACES": "9", "OWN": "1"}
    found = node_environment({**needed, **SECRET}, frozenset({"OWN"}))
    assert found == needed
    # The second time there is nothing to remove.
    assert node_environment(found, frozenset({"OWN"})) == found


def test_its_settings_are_settings_and_others_are_refused() -> None:
    known = {one.name for one in fields(Settings)}
    assert known >= SETTINGS
    hidden = {one.name for one in fields(Settings) if not one.repr} - {"sources"}
    assert not hidden & SETTINGS
    given = {"places": "flag", "notify_secret": "file", "database": "file"}
    assert foreign_settings(given) == ["database", "notify_secret"]


def test_the_processes_of_ray_must_show_a_token() -> None:
    found = ray_environment({"HOME": "/h", "RAY_AUTH_TOKEN_PATH": "/t", "DESKHAND_PLACES": "9"})
    assert found == {"HOME": "/h", "RAY_AUTH_TOKEN_PATH": "/t", "RAY_AUTH_MODE": "token"}
    assert ray_environment({"RAY_AUTH_MODE": "disabled"}) == {"RAY_AUTH_MODE": "token"}
