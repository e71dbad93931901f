from typing import Any

import pytest

from deskhand.tools.oidc.claims import identity_of, name_of, parse_roles, role_of

ROLES = parse_roles(["admins=owner", " build=er = member", "*=watcher"])


def test_entries_are_groups_with_roles() -> None:
    assert ROLES == {"admins": "owner", "build=er": "member", "*": "watcher"}


@pytest.mark.parametrize("entry", ["admins", "=owner", "admins=root", ""])
def test_other_entries_are_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="is not GROUP=ROLE"):
        parse_roles([entry])


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (["build=er", "admins"], "owner"),
        (["build=er"], "member"),
        ("admins", "owner"),
        ([], "watcher"),
        (None, "watcher"),
        ([{"name": "admins"}], "watcher"),
    ],
)
def test_the_role_with_the_most_rights_counts(groups: object, role: str) -> None:
    assert role_of(groups, ROLES) == role


def test_without_a_group_there_is_no_role() -> None:
    assert role_of(["others"], parse_roles(["admins=owner"])) is None


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"name": " Ada  Lovelace ", "email": "a@example.com"}, "Ada Lovelace"),
        ({"name": "", "email": "a@example.com"}, "a@example.com"),
        ({"sub": "17"}, "17"),
        ({}, "A person"),
        ({"name": "\u202e"}, "A person"),
        ({"name": "x" * 99}, "x" * 60),
    ],
)
def test_a_person_is_shown_by_a_name(claims: dict[str, Any], name: str) -> None:
    assert name_of(claims) == name


def test_issuer_and_subject_identify_a_person() -> None:
    assert (
        identity_of({"iss": "https://id.example.com", "sub": "17"}) == "https://id.example.com 17"
    )
