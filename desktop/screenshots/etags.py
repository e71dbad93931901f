"""The pictures that a client has already, as ``If-None-Match`` names them."""

from dataclasses import dataclass

from deskhand.vncbridge.http.etags import ANY, listed


@dataclass(frozen=True)
class Etags:
    """A set of ETags, without their quotes; contains every ETag if ``every``."""

    named: frozenset[str] = frozenset()
    every: bool = False

    def __contains__(self, tag: object) -> bool:
        return self.every or tag in self.named


def etags(if_none_match: str) -> Etags:
    """Read the header; a malformed one names nothing, so that a picture is sent."""
    tags = listed(if_none_match)
    return Etags(frozenset(tag[1:-1] for tag in tags - {ANY}), every=ANY in tags)
