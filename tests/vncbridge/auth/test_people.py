import asyncio

import pytest

from deskhand.vncbridge.auth.people import (
    ROLES,
    NoPeople,
    PersonRole,
    SignedInPerson,
    credential_of,
    person_of,
)


@pytest.mark.parametrize(
    ("role", "scopes"),
    [("owner", ("admin",)), ("member", ("role:member",)), ("watcher", ("role:watcher",))],
)
def test_each_role_has_its_scopes(role: PersonRole, scopes: tuple[str, ...]) -> None:
    assert SignedInPerson("p1", "Ada", role).scopes == scopes
    assert role in ROLES


def test_the_credential_of_a_person_names_the_person() -> None:
    assert person_of(credential_of("p1")) == "p1"
    assert person_of("0123456789abcdef") == ""


def test_a_service_without_people_knows_nobody() -> None:
    assert NoPeople().person("p1") is None
    assert asyncio.run(NoPeople().redeem("digest")) == ""
