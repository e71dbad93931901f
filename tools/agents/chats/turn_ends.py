"""How turns end: the fields of their rows, and the reasons that their recordings get. Pure."""

from dataclasses import dataclass
from typing import Literal, cast

from deskhand.tools.agents.loop.report import Outcome, Source
from deskhand.tools.agents.loop.turn import TurnEnd
from deskhand.tools.agents.providers.port import Usage
from deskhand.tools.store import turns
from deskhand.tools.store.schema import TurnRow


@dataclass(frozen=True)
class Failure:
    """Reason for which a turn ended before the model could end it."""

    error: str
    kind: str


def write_end(turn: TurnRow, ended: TurnEnd | Failure | None, status: str, now: float) -> None:
    """Write how a turn ended into its row."""
    turn.status = status
    # The clock of the host that ends a turn may be behind that of the one that began it.
    turn.ended_at = max(now, turn.started_at)
    if turn.work == turns.COMPACT and status == "done":
        return
    if isinstance(ended, TurnEnd):
        turn.report = ended.report
        turn.outcome = ended.outcome
        turn.outcome_source = ended.outcome_source
        turn.error = ended.error
        turn.error_kind = ended.error_kind
    elif ended is not None:
        turn.outcome = "failed"
        turn.outcome_source = "assumed"
        turn.error = ended.error
        turn.error_kind = ended.kind
    elif turn.work != turns.COMPACT:
        # Its last message may be stored already.
        turn.report, turn.outcome, turn.outcome_source = "", None, None


def unwritten_end(left: turns.TurnResult) -> TurnEnd | None:
    """Return the end of a turn whose process was killed after its last message was stored."""
    # One that only makes a checkpoint has the outcome of the turn before.
    if left.compacts or left.outcome is None:
        return None
    outcome, source = cast(Outcome, left.outcome), cast(Source, left.source)
    return TurnEnd(outcome, left.report, source, None, None, 0, Usage())


def status_of(ended: TurnEnd | Failure | None) -> Literal["done", "failed", "interrupted"]:
    """Return the status of a turn that ended; None stands for an interruption."""
    if ended is None:
        return "interrupted"
    # A spent budget is a regular end: the work so far is a result.
    if isinstance(ended, Failure) or (ended.error is not None and ended.error_kind != "budget"):
        return "failed"
    return "done"


def end_reason(ended: TurnEnd | Failure | None) -> str:
    """Return why the recording of a turn ended."""
    reasons = {"interrupted": "closed", "failed": "child_error", "done": "completed"}
    return reasons[status_of(ended)]
