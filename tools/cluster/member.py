"""Who is at the other end of a connection of the cluster: a role and a name. Pure.

A certificate contains both as a URI among its subject alternative names (RFC 5280, 4.2.1.6), such
as ``deskhand:node:n7``.
"""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from .errors import BadMember

Role = Literal["plane", "node"]
ROLES: tuple[Role, ...] = get_args(Role)
DOMAIN = "deskhand.internal"
"""Below the domain that is reserved for private use (ICANN resolution 2024.07.29.06)."""
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
"""As a label of a host name (RFC 1123), since nodes are often named by their hosts."""


@dataclass(frozen=True)
class Member:
    """A control plane or a node.

    Raises:
        BadMember: If the name has other characters than a host name, or more than 40.
    """

    role: Role
    name: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise BadMember(
                f"the name {self.name!r} is not possible: use up to 40 lower-case letters, digits"
                " and hyphens, with a letter or digit at both ends"
            )

    @property
    def uri(self) -> str:
        """The URI in the certificate."""
        return f"deskhand:{self.role}:{self.name}"

    @property
    def host(self) -> str:
        """The host name in the certificate, whatever its address is; no name server knows it.

        A client that wants this member asks for it, or for what is below it: so TLS itself verifies
        whom it has reached.
        """
        return f"{self.name}.{self.role}.{DOMAIN}"

    @classmethod
    def of_uri(cls, uri: str) -> "Member":
        """Read the URI of a certificate.

        Raises:
            BadMember: If it is another one.
        """
        for role in ROLES:
            before, found, name = uri.partition(f"deskhand:{role}:")
            if found and not before:
                return cls(role, name)
        raise BadMember(f"the certificate names no control plane and no node: {uri[:100]!r}")
