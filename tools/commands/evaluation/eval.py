"""`deskhand eval`: runs tasks with a model, and reports how many it does."""

import asyncio
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from deskhand.tools.commands.terminal import START_ERRORS, print_error, print_json, print_line
from deskhand.tools.control_plane.settings import BadSetting
from deskhand.tools.conversation.errors import NoModel
from deskhand.tools.evaluation.errors import BadTask
from deskhand.tools.evaluation.form.library import find_tasks
from deskhand.tools.evaluation.report.comparison import Comparison, compare
from deskhand.tools.evaluation.report.results_folder import (
    PAGE,
    load_result,
    new_folder,
    write_page,
    write_result,
)
from deskhand.tools.evaluation.report.text import comparison_lines, report_lines, run_line
from deskhand.tools.evaluation.result import EvaluationResult, Mode, RunResult, UnreadableResult
from deskhand.tools.evaluation.running.running import LOG, Evaluation, EvaluationOrder
from deskhand.tools.evaluation.task import Task
from deskhand.tools.mcp.plane_process import PlaneNotStarted

from .preconditions import check_settings, read_given_settings, starts_as_root, usable_model

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
        order = _order(options)
        older = None if options.compare is None else load_result(options.compare)
        folder = new_folder(options.out)
    except (BadTask, BadSetting, UnreadableResult) as error:
        print_error(str(error))
        return USAGE
    except NoModel as error:
        print_error(str(error))
        return NO_MODEL
    except OSError as error:
        print_error(f"results cannot be written to {error.filename}: {error.strerror}")
        return NOT_STARTED
    command = _EvalCommand(order, older, folder, options.as_json)
    try:
        asyncio.run(command.run())
    except (asyncio.CancelledError, KeyboardInterrupt):
        print_error("interrupted")
        return INTERRUPTED
    except PlaneNotStarted as error:
        print_error(f"{error}: {last_line(folder / LOG) or 'it gave no reason'}")
        return NOT_STARTED
    except START_ERRORS as error:
        print_error(str(error))
        return NOT_STARTED
    return command.exit_status()


def last_line(log: Path) -> str:
    """Return the last line of a log that is not blank."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("deskhand: ") if lines else ""


def exit_status(runs: Sequence[RunResult], mode: Mode) -> int:
    """Return the exit status for the runs of a whole evaluation."""
    if any(run.status == "error" for run in runs):
        return NOT_JUDGED
    expected = "failed" if mode == "wrong" else "passed"
    return DONE if all(run.status == expected for run in runs) else FAILED


class _EvalCommand:
    def __init__(
        self, order: EvaluationOrder, older: EvaluationResult | None, folder: Path, as_json: bool
    ) -> None:
        self._order = order
        self._older = older
        self._folder = folder
        self._as_json = as_json
        self._began = time.time()
        self._evaluation = Evaluation(order, folder, self._came)
        self._unwritten = ""
        self._task: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Run everything, and report what has ended, also after Ctrl-C or SIGTERM."""
        self._task = asyncio.current_task()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self._stop)
        order = self._order
        runs = len(order.tasks) * order.repeat
        self._print(f"{runs} runs of {len(order.tasks)} tasks, {order.parallel} at once")
        interrupted = True
        try:
            await self._evaluation.run(os.environ, root=starts_as_root())
            interrupted = False
        finally:
            if self._evaluation.results:
                self._report(self._result(interrupted))

    def _stop(self) -> None:
        # Once: a second Ctrl-C would break off the end of the desktops.
        task, self._task = self._task, None
        if task is not None:
            self._print("Ending the agents and their desktops ...")
            task.cancel()

    def exit_status(self) -> int:
        """Return the exit status."""
        if self._evaluation.stop_reason:
            print_error(f"stopped: {self._evaluation.stop_reason}")
            return NO_MODEL
        if self._unwritten:
            return NOT_JUDGED
        return exit_status(self._evaluation.results, self._order.mode)

    def _came(self, run: RunResult) -> None:
        self._print(run_line(run))
        # Whatever ends this process, the runs that have ended keep their results.
        self._write(self._result(True))

    def _result(self, interrupted: bool) -> EvaluationResult:
        order = self._order
        return EvaluationResult(
            model=order.model or f"{order.mode} scripts",
            mode=order.mode,
            settings=order.settings,
            repeat=order.repeat,
            runs=tuple(self._evaluation.results),
            version=version("deskhand"),
            started_at=self._began,
            seconds=round(time.time() - self._began, 1),
            interrupted=interrupted,
        )

    def _write(self, result: EvaluationResult) -> None:
        try:
            write_result(self._folder, result)
        except OSError as error:
            self._unwritten = f"{self._folder} cannot be written: {error.strerror}"

    def _report(self, result: EvaluationResult) -> None:
        self._unwritten = ""
        self._write(result)
        comparison: Comparison | None = None
        if self._older is not None:
            comparison = compare(self._older, result)
        try:
            write_page(self._folder, result, comparison)
        except OSError as error:
            self._unwritten = f"{self._folder} cannot be written: {error.strerror}"
        if self._unwritten:
            print_error(self._unwritten)
        if self._as_json:
            print_json(result.to_json())
            return
        lines = ["", *report_lines(result)]
        if comparison is not None:
            lines += ["", *comparison_lines(comparison)]
        for line in [*lines, "", f"Page: {(self._folder / PAGE).absolute()}"]:
            print_line(line)

    def _print(self, text: str) -> None:
        if not self._as_json:
            print_line(text)


def _order(options: EvalOptions) -> EvaluationOrder:
    tasks = find_tasks(options.tasks, options.tags)
    given = read_given_settings(options.settings)
    settings = check_settings(given, os.environ)
    if options.mode == "model":
        model = usable_model(options.model, settings, os.environ)
    else:
        model = None
        _check_scripts(tasks, options.mode)
    return EvaluationOrder(tasks, options.mode, model, given, options.repeat, options.parallel)


def _check_scripts(tasks: Sequence[Task], mode: Mode) -> None:
    for task in tasks:
        if (task.oracle if mode == "oracle" else task.wrong) is None:
            raise BadTask(task.name, None, f"has no {mode} script")
