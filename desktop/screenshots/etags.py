"""Entity tags of the screenshots that a caller has, from If-None-Match (RFC 9110, 13.1.2)."""

from dataclasses import dataclass

from deskhand.vncbridge.http.etags import ANY, listed


@dataclass(frozen=True)
class Etags:
    """Set of entity tags without their quotes; with ``every`` it contains any tag."""

    named: frozenset[str] = frozenset()
    every: bool = False

    def __contains__(self, tag: object) -> bool:
        return self.every or tag in self.named


def etags(if_none_match: str) -> Etags:
    """Parse the header; a malformed one contains no tag, so the full response is sent."""
    tags = listed(if_none_match)
    return Etags(frozenset(tag[1:-1] for tag in tags - {ANY}), every=ANY in tags)
