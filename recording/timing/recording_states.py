"""Which recordings run, rest or have ended, by their ids."""

from enum import Enum

from deskhand.recording.errors import TooManyRecordings, UnknownRecording


class RecordingState(Enum):
    """What a recording does."""

    ACTIVE = "active"
    RESTING = "resting"
    """Stopped for want of activity; goes on by itself when something happens."""
    STOPPED = "stopped"


class RecordingStates:
    """Decides who starts, rests and wakes. Times are seconds; all share one activity clock."""

    def __init__(self, most: int, rest_after: float) -> None:
        self._most = most
        self._rest_after = rest_after
        self._states: dict[str, RecordingState] = {}
        self._activity = float("-inf")

    def state(self, recording_id: str) -> RecordingState | None:
        """None for an id that was never started here."""
        return self._states.get(recording_id)

    def active(self) -> tuple[str, ...]:
        """Ids in the order in which they were started."""
        return tuple(name for name, state in self._states.items() if state is RecordingState.ACTIVE)

    def start(self, recording_id: str, now: float) -> bool:
        """Whether a file must be opened; False when the recording runs already.

        Raises:
            TooManyRecordings: If all places are taken.
        """
        self._activity = max(self._activity, now)
        if self._states.get(recording_id) is RecordingState.ACTIVE:
            return False
        if len(self.active()) >= self._most:
            raise TooManyRecordings(self._most)
        self._states.pop(recording_id, None)
        self._states[recording_id] = RecordingState.ACTIVE
        return True

    def stop(self, recording_id: str) -> bool:
        """Whether a file must be closed; False when that has happened already.

        Raises:
            UnknownRecording: If the id was never started here.
        """
        before = self._states.get(recording_id)
        if before is None:
            raise UnknownRecording(recording_id)
        self._states[recording_id] = RecordingState.STOPPED
        return before is RecordingState.ACTIVE

    def activity(self, now: float) -> tuple[str, ...]:
        """Somebody acted; the resting recordings that go on, as far as there are places."""
        self._activity = max(self._activity, now)
        resting = [name for name, state in self._states.items() if state is RecordingState.RESTING]
        woken = tuple(resting[: self._most - len(self.active())])
        self._states |= dict.fromkeys(woken, RecordingState.ACTIVE)
        return woken

    def rest(self, now: float) -> tuple[str, ...]:
        """The recordings that stop because nobody has acted for long."""
        if now < self._activity + self._rest_after:
            return ()
        resting = self.active()
        self._states |= dict.fromkeys(resting, RecordingState.RESTING)
        return resting

    def next_rest(self) -> float | None:
        """When ``rest`` is worth calling again."""
        return self._activity + self._rest_after if self.active() else None

    def forget(self, recording_id: str) -> None:
        """Drop a recording that was deleted, or that could not begin."""
        self._states.pop(recording_id, None)
