"""States of the recordings of one desktop, by recording id.

    (unknown) --start--> ACTIVE --stop--> STOPPED --start--> ACTIVE
    ACTIVE --rest--> RESTING --activity or start--> ACTIVE
    RESTING --stop--> STOPPED

Only ACTIVE recordings occupy one of the limited slots. A recording rests when none of its desktop's
users has acted for ``rest_after`` seconds: all recordings of a desktop share one activity clock,
because an action is visible in each of them. ``start`` counts as activity, otherwise a recording
that is started on an idle desktop would rest at once.
"""

from enum import Enum

from deskhand.recording.errors import TooManyRecordings, UnknownRecording


class RecordingState(Enum):
    """State of one recording."""

    ACTIVE = "active"
    RESTING = "resting"
    """No file is open; the next activity makes the recording active again."""
    STOPPED = "stopped"


class RecordingStates:
    """State table of all recordings. Times are seconds on one monotonic clock."""

    def __init__(self, most: int, rest_after: float) -> None:
        self._most = most
        self._rest_after = rest_after
        self._states: dict[str, RecordingState] = {}
        self._activity = float("-inf")

    def state(self, recording_id: str) -> RecordingState | None:
        """Return the state of a recording; None for an id that was never started here."""
        return self._states.get(recording_id)

    def active(self) -> tuple[str, ...]:
        """Return the ids of the active recordings, oldest first."""
        return tuple(name for name, state in self._states.items() if state is RecordingState.ACTIVE)

    def start(self, recording_id: str, now: float) -> bool:
        """Make a recording active; return False if it is active already, so no file is opened.

        Raises:
            TooManyRecordings: If all slots are in use.
        """
        self._activity = max(self._activity, now)
        if self._states.get(recording_id) is RecordingState.ACTIVE:
            return False
        if len(self.active()) >= self._most:
            raise TooManyRecordings(self._most)
        # A dict keeps the position of an existing key; `active` lists by the latest start.
        self._states.pop(recording_id, None)
        self._states[recording_id] = RecordingState.ACTIVE
        return True

    def stop(self, recording_id: str) -> bool:
        """Mark a recording stopped; return False if no file of it is open.

        Raises:
            UnknownRecording: If the id was never started here.
        """
        before = self._states.get(recording_id)
        if before is None:
            raise UnknownRecording(recording_id)
        self._states[recording_id] = RecordingState.STOPPED
        return before is RecordingState.ACTIVE

    def activity(self, now: float) -> tuple[str, ...]:
        """Record activity; return the resting recordings that it resumes, limited by the slots."""
        self._activity = max(self._activity, now)
        resting = [name for name, state in self._states.items() if state is RecordingState.RESTING]
        woken = tuple(resting[: self._most - len(self.active())])
        self._states |= dict.fromkeys(woken, RecordingState.ACTIVE)
        return woken

    def rest(self, now: float) -> tuple[str, ...]:
        """Suspend all active recordings after ``rest_after`` without activity; return their ids."""
        if now < self._activity + self._rest_after:
            return ()
        resting = self.active()
        self._states |= dict.fromkeys(resting, RecordingState.RESTING)
        return resting

    def next_rest(self) -> float | None:
        """Return the time at which ``rest`` has to be called again; None if none is active."""
        return self._activity + self._rest_after if self.active() else None

    def forget(self, recording_id: str) -> None:
        """Remove a recording that was deleted or could not begin."""
        self._states.pop(recording_id, None)
