"""Whether a client has the bytes already, RFC 9110 section 13.1.2."""


def matches(if_none_match: str | None, etag: str) -> bool:
    """Return whether the header names this entity tag; weak and strong count as equal."""
    if if_none_match is None:
        return False
    if if_none_match.strip() == "*":
        return True
    return any(tag.strip().removeprefix("W/") == etag for tag in if_none_match.split(","))
