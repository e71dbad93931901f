"""Roles and names of people from the claims of a provider. Pure.

The setting ``oidc_roles`` has entries such as ``admins=owner``; the group ``*`` is everyone who can
sign in at the provider. Of several roles a person gets the one with the most rights.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from deskhand.vncbridge.auth.people import ROLES, PersonRole

EVERYONE = "*"
NAMES = ("name", "preferred_username", "email", "sub")
LONGEST_NAME = 60


def parse_roles(entries: Iterable[str]) -> dict[str, PersonRole]:
    """Return the role of each group.

    Raises:
        ValueError: If an entry is not ``GROUP=ROLE``.
    """
    found: dict[str, PersonRole] = {}
    for entry in entries:
        group, _, wanted = entry.rpartition("=")
        role = next((one for one in ROLES if one == wanted.strip()), None)
        if not group.strip() or role is None:
            raise ValueError(f"{entry!r} is not GROUP=ROLE; roles: {', '.join(ROLES)}")
        found[group.strip()] = role
    return found


def role_of(groups: object, roles: Mapping[str, PersonRole]) -> PersonRole | None:
    """Return the role of a person in these groups; None without one."""
    listed = groups if isinstance(groups, list) else [groups]
    names = {EVERYONE, *(one for one in listed if isinstance(one, str))}
    # From the role with the most rights to that with the fewest.
    return next((role for role in ROLES if role in {roles.get(name) for name in names}), None)


def name_of(claims: Mapping[str, Any]) -> str:
    """Return the name by which a person is shown."""
    found = (" ".join(str(claims.get(key) or "").split()) for key in NAMES)
    name = next((one for one in found if one), "A person")
    return "".join(one for one in name if one.isprintable())[:LONGEST_NAME].strip() or "A person"


def identity_of(claims: Mapping[str, Any]) -> str:
    """Return what identifies a person for ever; names and mail addresses change hands."""
    return f"{claims['iss']} {claims['sub']}"
