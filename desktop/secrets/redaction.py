"""Which words nobody may read, and what is read in their place."""

import re
from collections.abc import Sequence

from deskhand.desktop.errors import InvalidSecret

SHORTEST = 4
LONGEST = 10_000
MOST = 1000

MASK = "••••"
"""As long for every secret: the length would tell of it too."""


class SecretRedactor:
    """The secrets known just now; called with a text it gives the text without them.

    From any thread: the values are replaced as a whole.
    """

    def __init__(self) -> None:
        self._values: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None

    def __len__(self) -> int:
        return len(self._values)

    def add(self, values: Sequence[str]) -> None:
        """Hide these too.

        Raises:
            InvalidSecret: If one is too short to be hidden without hiding half of all words, or
                there are too many. Then none is added.
        """
        for value in values:
            if not SHORTEST <= len(value) <= LONGEST:
                raise InvalidSecret(f"a secret has {SHORTEST} to {LONGEST} characters")
        together = self._values | set(values)
        if len(together) > MOST:
            raise InvalidSecret(f"at most {MOST} secrets are kept")
        # The longest first: a secret may begin with another.
        ordered = sorted(together, key=lambda value: (-len(value), value))
        self._values = together
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def clear(self) -> None:
        """Hide nothing more."""
        self._values, self._pattern = frozenset(), None

    def __call__(self, text: str) -> str:
        """The text with every secret masked."""
        pattern = self._pattern
        return text if pattern is None else pattern.sub(MASK, text)
