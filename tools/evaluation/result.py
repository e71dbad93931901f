"""Results of an evaluation. Pure values, with the form in which they are stored as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

Json = dict[str, Any]
Status = Literal["passed", "failed", "error"]
Mode = Literal["model", "oracle", "wrong"]
FORMAT = 1
"""Number of the stored form; it changes when old files can no longer be read."""


class UnreadableResult(Exception):
    """A file that is no result of an evaluation."""


@dataclass(frozen=True)
class RunCost:
    """What one run has used."""

    steps: int = 0
    images: int = 0
    requests: int = 0
    """Answers of the model."""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    usd: float | None = 0.0
    """None if the prices of the model are not known."""
    seconds: float = 0.0
    """From the prompt to the end of the agent."""

    @property
    def tokens(self) -> int:
        """All tokens: input, read from and written to the cache, and output."""
        cached = self.cache_read_tokens + self.cache_write_tokens
        return self.input_tokens + cached + self.output_tokens

    def plus(self, other: "RunCost") -> "RunCost":
        """Return the sum; its money is not known if that of either is not."""
        mine, theirs = asdict(self), asdict(other)
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        sums = {name: mine[name] + theirs[name] for name in mine if name != "usd"}
        return RunCost(**sums, usd=usd)


@dataclass(frozen=True)
class RunResult:
    """One run of a task."""

    task: str
    number: int
    """From 1, among the runs of the task."""
    status: Status
    reason: str = ""
    """Why it has failed, or could not be judged."""
    error_kind: str | None = None
    """``setup``, ``desktop``, ``checker`` or ``model`` if it could not be judged."""
    outcome: str | None = None
    """The agent's own judgement: ``done``, ``failed`` or ``blocked``."""
    report: str = ""
    ended_by: str | None = None
    """Kind of the error that ended the agent's turn, such as ``budget``."""
    tags: tuple[str, ...] = ()
    cost: RunCost = field(default_factory=RunCost)
    recording: str | None = None
    """File of the video, relative to the folder of the results."""
    picture: str | None = None
    """File of the last screen."""
    note: str = ""
    """What went wrong beside the run, such as a recording that could not be stored."""

    def with_note(self, note: str) -> "RunResult":
        """Return the result with a further note."""
        return replace(self, note=f"{self.note} {note}".strip())


@dataclass(frozen=True)
class EvaluationResult:
    """All runs of one evaluation."""

    model: str
    mode: Mode
    settings: tuple[tuple[str, str], ...]
    repeat: int
    runs: tuple[RunResult, ...]
    version: str = ""
    """Version of Deskhand."""
    started_at: float = 0.0
    """Unix time."""
    seconds: float = 0.0
    interrupted: bool = False

    def to_json(self) -> Json:
        """Return the stored form."""
        return {
            "format": FORMAT,
            **asdict(self),
            "settings": dict(self.settings),
            "runs": [
                {**asdict(run), "cost": {**asdict(run.cost), "tokens": run.cost.tokens}}
                for run in self.runs
            ],
        }


def read_result(stored: object) -> EvaluationResult:
    """Return the result of the stored form.

    Raises:
        UnreadableResult: If it has another form.
    """
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise UnreadableResult("it is no result of `deskhand eval`, or of another version")
    try:
        runs = tuple(_run(run) for run in stored["runs"])
        return EvaluationResult(
            model=str(stored["model"]),
            mode=stored["mode"],
            settings=tuple(sorted((str(k), str(v)) for k, v in stored["settings"].items())),
            repeat=int(stored["repeat"]),
            runs=runs,
            version=str(stored["version"]),
            started_at=float(stored["started_at"]),
            seconds=float(stored["seconds"]),
            interrupted=bool(stored["interrupted"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableResult(f"a field is missing or wrong: {error}") from error


def of_task(runs: Sequence[RunResult], name: str) -> tuple[RunResult, ...]:
    """Return the runs of one task, in their order."""
    return tuple(sorted((run for run in runs if run.task == name), key=lambda run: run.number))


def _run(stored: Json) -> RunResult:
    cost = {key: value for key, value in stored["cost"].items() if key != "tokens"}
    rest = {**stored, "tags": tuple(stored["tags"]), "cost": RunCost(**cost)}
    return RunResult(**rest)
