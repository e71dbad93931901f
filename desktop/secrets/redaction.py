"""Redaction of known secrets from text: each is replaced by a mask."""

import re
from collections import deque
from collections.abc import Sequence

from deskhand.desktop.errors import InvalidSecret

SHORTEST = 4
LONGEST = 10_000
MOST = 1000
MOST_CODES = 100
"""One-time codes that are masked, the last ones: each sign-in has another."""

MASK = "••••"
"""The same for every secret, because a length would narrow down the secret."""


class SecretRedactor:
    """The secrets known now. A call masks them in a text.

    A text may be masked from any thread: all other methods replace the pattern as a whole.
    """

    def __init__(self) -> None:
        self._values: frozenset[str] = frozenset()
        self._codes: deque[str] = deque(maxlen=MOST_CODES)
        self._pattern: re.Pattern[str] | None = None

    def __len__(self) -> int:
        return len(self._values)

    def add(self, values: Sequence[str]) -> None:
        """Mask these values from now on, too.

        Raises:
            InvalidSecret: If a value is so short that it occurs in ordinary words, if it is too
                long, or if there are too many. Then none is added.
        """
        _check_lengths(values)
        known = self._values | set(values)
        if len(known) > MOST:
            raise InvalidSecret(f"at most {MOST} secrets are kept")
        self._values = known
        self._compile()

    def add_codes(self, codes: Sequence[str]) -> None:
        """Mask one-time codes from now on, too; of all codes the last `MOST_CODES` are masked.

        Raises:
            InvalidSecret: If the length of one is not that of a secret. Then none is added.
        """
        _check_lengths(codes)
        self._codes.extend(codes)
        self._compile()

    def clear(self) -> None:
        """Forget all secrets, so that nothing is masked any more."""
        self._values, self._pattern = frozenset(), None
        self._codes.clear()

    def __call__(self, text: str) -> str:
        """Return the text with every secret masked."""
        pattern = self._pattern
        return text if pattern is None else pattern.sub(MASK, text)

    def _compile(self) -> None:
        # A regular expression takes the first alternative that matches, and a secret may begin with
        # another one. So the longest comes first.
        known = self._values.union(self._codes)
        ordered = sorted(known, key=lambda value: (-len(value), value))
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None


def _check_lengths(values: Sequence[str]) -> None:
    for value in values:
        if not SHORTEST <= len(value) <= LONGEST:
            raise InvalidSecret(f"a secret has {SHORTEST} to {LONGEST} characters")
