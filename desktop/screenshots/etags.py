"""The pictures that a caller has already, as If-None-Match names them."""

import re
from dataclasses import dataclass

_TAG = re.compile(r'"([^"]*)"')


@dataclass(frozen=True)
class Etags:
    """A set of ETags, without their quotes; of all there are if ``every``."""

    named: frozenset[str] = frozenset()
    every: bool = False

    def __contains__(self, tag: object) -> bool:
        return self.every or tag in self.named


def etags(if_none_match: str) -> Etags:
    """Read the header; one that nobody can read names nothing, so that a picture is sent."""
    if if_none_match.strip() == "*":
        return Etags(every=True)
    return Etags(frozenset(_TAG.findall(if_none_match)))
