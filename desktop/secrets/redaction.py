"""Redaction of known secrets from text: each is replaced by a mask."""

import re
from collections.abc import Sequence

from deskhand.desktop.errors import InvalidSecret

SHORTEST = 4
LONGEST = 10_000
MOST = 1000

MASK = "••••"
"""The same for every secret, because a length would narrow down the secret."""


class SecretRedactor:
    """The secrets known now. A call masks them in a text.

    A text may be masked from any thread: ``add`` and ``clear`` replace the pattern as a whole.
    """

    def __init__(self) -> None:
        self._values: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None

    def __len__(self) -> int:
        return len(self._values)

    def add(self, values: Sequence[str]) -> None:
        """Mask these values from now on, too.

        Raises:
            InvalidSecret: If a value is so short that it occurs in ordinary words, if it is too
                long, or if there are too many. Then none is added.
        """
        for value in values:
            if not SHORTEST <= len(value) <= LONGEST:
                raise InvalidSecret(f"a secret has {SHORTEST} to {LONGEST} characters")
        known = self._values | set(values)
        if len(known) > MOST:
            raise InvalidSecret(f"at most {MOST} secrets are kept")
        # A regular expression takes the first alternative that matches, and a secret may begin with
        # another one. So the longest comes first.
        ordered = sorted(known, key=lambda value: (-len(value), value))
        self._values = known
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def clear(self) -> None:
        """Forget all secrets, so that nothing is masked any more."""
        self._values, self._pattern = frozenset(), None

    def __call__(self, text: str) -> str:
        """Return the text with every secret masked."""
        pattern = self._pattern
        return text if pattern is None else pattern.sub(MASK, text)
