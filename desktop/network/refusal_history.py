"""Repeated refusals of one address, of which one in a minute is reported. Pure."""

from .nflog import Refusal

QUIET_SECONDS = 60.0
MOST_REMEMBERED = 512


class RefusalHistory:
    """The refusals that were reported last; times are seconds on a monotonic clock."""

    def __init__(self) -> None:
        self._reported: dict[Refusal, float] = {}

    def is_new(self, refusal: Refusal, now: float) -> bool:
        """Return True, and remember it, unless the same one was reported in the last minute."""
        last = self._reported.get(refusal)
        if last is not None and now - last < QUIET_SECONDS:
            return False
        # Dicts keep the order of insertion, so the first key is the oldest report.
        self._reported.pop(refusal, None)
        self._reported[refusal] = now
        if len(self._reported) > MOST_REMEMBERED:
            del self._reported[next(iter(self._reported))]
        return True
