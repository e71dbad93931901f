"""Places of the marks for the provider's prompt cache in a request. Pure.

The provider writes an entry only where a request carries a mark, at most four in a request. A
later request reads it if one of its own marks is at the same block or at most 20 blocks behind it,
and the prefix up to the entry is the same
(https://docs.claude.com/en/docs/build-with-claude/prompt-caching). Hence:

- The end of each request is marked, and the end of the request before it, which is the user message
  before the newest reply. The distance between the two does not matter then: a reply may have any
  number of calls.
- The end of the request before that one is marked too, for a request that the provider did not
  answer and that has therefore left no entry.
- Where old pictures are left out, a batch of them changes all that follows. The two newest ends of
  the part that is settled are marked: the older one has an entry, and the newer one gets it.
- The system prompt with the tools is marked while a mark is left: other chats begin with the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

MOST_MARKS = 4
"""Marks in one request."""
SETTLED_MARKS = 2


@dataclass(frozen=True)
class CacheMarks:
    """The messages whose last blocks carry a mark, and True if the system prompt carries one."""

    messages: tuple[int, ...]
    system: bool


def cache_marks(roles: Sequence[str], settled: Sequence[int] = ()) -> CacheMarks:
    """Return the places of the marks for messages of these roles.

    ``settled`` are the messages up to which nothing changes with the next batches of pictures, the
    newest last.
    """
    ends = [index for index, role in enumerate(roles) if role == "user"][::-1]
    places = [*ends[:1], *sorted(settled)[-SETTLED_MARKS:]]
    # With two settled parts one of them has an entry that is longer than the system prompt.
    system = len(places) <= SETTLED_MARKS
    for end in ends[1:]:
        if len(set(places)) + system < MOST_MARKS:
            places.append(end)
    return CacheMarks(tuple(sorted(set(places))), system)
