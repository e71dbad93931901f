"""One action or tool call while a recording runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class Step:
    """One action or tool call. Times are seconds on the clock of whoever holds the step:
    monotonic when it is given to the recorder, from the start of the file when it is stored.
    """

    tool_call_id: str = ""
    chat_id: str = ""
    tool: str = ""
    title: str = ""
    action: str = ""
    text: str = ""
    """What was typed or pressed."""
    model_point: tuple[float, float] | None = None
    native_point: tuple[int, int] | None = None
    started: float = 0.0
    ended: float = 0.0
    changed_fraction: float | None = None
    error: str | None = None
    frame_before: str = ""
    frame_after: str = ""
    """Names of the frames that whoever acted saw."""

    def moved(self, by: float) -> "Step":
        """The same step on a clock that shows ``by`` seconds more."""
        return replace(self, started=self.started + by, ended=self.ended + by)

    def masked(self, mask: Callable[[str], str]) -> "Step":
        """The same step with all its words as ``mask`` lets them be read."""
        return replace(
            self,
            title=mask(self.title),
            text=mask(self.text),
            error=self.error and mask(self.error),
        )
