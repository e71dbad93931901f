"""Step: one action or tool call while a recording runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class Step:
    """One action or tool call.

    Times are seconds: on the monotonic clock when a caller passes the step to the recorder, from
    the start of the file when the step is stored.
    """

    tool_call_id: str = ""
    chat_id: str = ""
    tool: str = ""
    title: str = ""
    action: str = ""
    text: str = ""
    """Text that was typed, or keys that were pressed."""
    model_point: tuple[float, float] | None = None
    native_point: tuple[int, int] | None = None
    started: float = 0.0
    ended: float = 0.0
    changed_fraction: float | None = None
    error: str | None = None
    frame_before: str = ""
    frame_after: str = ""
    """Ids of the frames that the caller saw before and after the action."""

    def moved(self, by: float) -> "Step":
        """Return the step with its times on a clock that is ``by`` seconds ahead."""
        return replace(self, started=self.started + by, ended=self.ended + by)

    def masked(self, mask: Callable[[str], str]) -> "Step":
        """Return the step with ``mask`` applied to all its texts."""
        # `tool` and `action` are names; only these three texts can repeat what was typed or shown.
        return replace(
            self,
            title=mask(self.title),
            text=mask(self.text),
            error=self.error and mask(self.error),
        )
