"""Decisions about errors of PostgreSQL: which may be gone at a later attempt, and when. Pure.

The codes are those of the appendix "PostgreSQL Error Codes" of its manual; the first two characters
are the class.
"""

_CLASSES = ("08", "53", "57P", "58")
"""Connection exceptions, insufficient resources, operator intervention such as a shutdown, and
errors of the system below the server."""
_CONFLICTS = frozenset({"23505", "40001", "40P01"})
"""A row that another transaction has inserted meanwhile, serialization, deadlock."""
_LOCKED = "55P03"


def is_conflict(code: str | None) -> bool:
    """Return whether another transaction has ended this one, so that it can be repeated at once."""
    return code in _CONFLICTS


def is_unusable(code: str | None) -> bool:
    """Return whether the server cannot be used now; None is a lost connection."""
    return code is None or code.startswith(_CLASSES) or code == _LOCKED
