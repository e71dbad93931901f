"""`deskhand eval`: runs tasks with a model, and reports how many it does."""

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deskhand.tools.commands.terminal import START_ERRORS, print_error, print_line
from deskhand.tools.evaluation.errors import BadTask
from deskhand.tools.evaluation.form.library import find_tasks
from deskhand.tools.evaluation.result import Mode
from deskhand.tools.evaluation.running.running import Evaluation, EvaluationOrder
from deskhand.tools.mcp.plane_process import PlaneNotStarted

DONE, FAILED, USAGE, NOT_JUDGED, NOT_STARTED, NO_MODEL, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


@dataclass(frozen=True)
class EvalOptions:
    """Options of the command."""

    tasks: Sequence[str]
    tags: Sequence[str] = ()
    mode: Mode = "model"
    model: str | None = None
    settings: Sequence[str] = ()
    repeat: int = 1
    parallel: int = 2
    compare: Path | None = None
    out: Path | None = None
    as_json: bool = False


def main(options: EvalOptions) -> int:
    """Run the evaluation; return the exit status."""
    try:
        order = EvaluationOrder(
            find_tasks(options.tasks, options.tags),
            options.mode,
            options.model,
            (),
            options.repeat,
            options.parallel,
        )
    except BadTask as error:
        print_error(str(error))
        return USAGE
    try:
        return asyncio.run(_run(order, options))
    except KeyboardInterrupt:
        print_error("interrupted")
        return INTERRUPTED
    except (*START_ERRORS, PlaneNotStarted) as error:
        print_error(str(error))
        return NOT_STARTED


async def _run(order: EvaluationOrder, options: EvalOptions) -> int:
    folder = options.out or Path(time.strftime("deskhand-eval-%Y%m%d-%H%M%S"))
    evaluation = Evaluation(order, folder, lambda run: print_line(str(run)))
    await evaluation.run(os.environ, root=os.geteuid() == 0)
    return 0
