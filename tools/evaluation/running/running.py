"""Runs of tasks in parallel, each on a clean desktop of a control plane of their own.

The control plane is a child process with a data directory that is removed at the end. Its settings
are those of the environment, with differences: approvals are automatic, since nobody watches, and
desktops reach nothing but the served pages (``egress`` none, as root). A task's own settings come
last. With ``oracle`` or ``wrong`` the model is a script of the task, played by the scripted model
server of this process behind the adapter of a real provider.

At most ``parallel`` runs are under way; each has a slot, one port for its pages. A run's failure
never ends the evaluation, but a key that the provider refuses does. Cancelling ends the agents and
their desktops with the control plane; what has ended before keeps its result.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopError
from deskhand.tools.agents.providers.provider_table import PROVIDERS
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from deskhand.tools.evaluation.errors import BadTask, RunError
from deskhand.tools.evaluation.form.library import load_task_script
from deskhand.tools.evaluation.result import Mode, RunResult
from deskhand.tools.evaluation.task import Task
from deskhand.tools.mcp.plane_process import PlaneProcess

from .one_run import OneRun, as_error
from .pages import PageSlot

FATAL_KINDS = ("model_key", "model_credit", "model_unreachable", "no_model")
"""Kinds of errors that the next run would have as well."""
FILES = "failures"
"""Folder of recordings and pictures, in that of the results."""
LOG = "control-plane.log"


@dataclass(frozen=True)
class EvaluationOrder:
    """What to run."""

    tasks: tuple[Task, ...]
    mode: Mode = "model"
    model: str | None = None
    settings: tuple[tuple[str, str], ...] = ()
    """Settings of the control plane."""
    repeat: int = 1
    parallel: int = 2


@dataclass(frozen=True)
class _Job:
    task: Task
    number: int


class Evaluation:
    """Runs all tasks of an order; ``results`` grows while it runs."""

    def __init__(
        self, order: EvaluationOrder, folder: Path, show: Callable[[RunResult], None]
    ) -> None:
        """``folder`` is that of the results; ``show`` gets each result as it comes."""
        self._order = order
        self._files = folder / FILES
        self._log = folder / LOG
        self._show = show
        self._stopped = False
        self.results: list[RunResult] = []
        self.stop_reason = ""
        """Why runs were left out, if the provider cannot be used."""

    async def run(self, environment: Mapping[str, str], *, root: bool) -> None:
        """Run everything; ``root`` if desktops have users and networks of their own.

        Raises:
            PlaneNotStarted: If the control plane does not start.
        """
        order = self._order
        jobs = [_Job(task, n + 1) for n in range(order.repeat) for task in order.tasks]
        queue = iter(jobs)
        async with AsyncExitStack() as stack:
            scripts = None
            if order.mode != "model":
                scripts = await stack.enter_async_context(ScriptedModelServer())
            slots = [
                await stack.enter_async_context(PageSlot().listening())
                for _ in range(min(order.parallel, len(jobs)))
            ]
            settings = plane_environment(environment, order, [slot.address for slot in slots], root)
            if scripts is not None:
                settings |= {
                    "ANTHROPIC_API_KEY": scripts.api_key,
                    "ANTHROPIC_BASE_URL": scripts.url,
                }
            client = await stack.enter_async_context(_plane(settings, self._log))
            async with asyncio.TaskGroup() as group:
                for slot in slots:
                    group.create_task(self._work_off(queue, client, slot, scripts))

    async def _work_off(
        self,
        queue: Iterator[_Job],
        client: DesktopClient,
        slot: PageSlot,
        scripts: ScriptedModelServer | None,
    ) -> None:
        for job in queue:
            if self._stopped:
                return
            result = await self._one(job, client, slot, scripts)
            self.results.append(result)
            self._show(result)
            if result.error_kind == "model" and result.ended_by in FATAL_KINDS:
                self._stopped = True
                self.stop_reason = result.reason

    async def _one(
        self,
        job: _Job,
        client: DesktopClient,
        slot: PageSlot,
        scripts: ScriptedModelServer | None,
    ) -> RunResult:
        task = job.task
        run = OneRun(client, slot, task, job.number, self._files, self._order.mode)
        try:
            places = await run.prepare()
            model = self._order.model
            if scripts is not None:
                model = _add_script(scripts, self._order.mode, job, places)
            return await run.work(model, places)
        except (RunError, DesktopError, OSError) as problem:
            # What the parts of a run do not expect is one of its set-up, as a file of the task.
            error = problem if isinstance(problem, RunError) else RunError("setup", str(problem))
            result = RunResult(task.name, job.number, "error", tags=task.tags)
            return await run.with_picture(as_error(result, error))
        finally:
            await run.close()


def plane_environment(
    environment: Mapping[str, str], order: EvaluationOrder, addresses: Sequence[str], root: bool
) -> dict[str, str]:
    """Return the environment of the control plane; ``addresses`` are those of the pages."""
    kept = dict(environment)
    if order.mode != "model":
        for variable in _provider_variables():
            kept.pop(variable, None)
    kept.pop("DESKHAND_NOTIFY_URL", None)
    kept |= {
        "DESKHAND_APPROVAL": "auto",
        "DESKHAND_MOST_DESKTOPS": str(order.parallel + 1),
        "DESKHAND_EGRESS": "none" if root else "open",
        "DESKHAND_EGRESS_GRANTS": ",".join(addresses),
        "DESKHAND_KEEP_DESKTOPS": "0",
    }
    return kept | {f"DESKHAND_{name.upper()}": value for name, value in order.settings}


def _provider_variables() -> list[str]:
    return [name for one in PROVIDERS.values() for name in (*one.keys, one.base_url)]


def _add_script(
    scripts: ScriptedModelServer, mode: Mode, job: _Job, places: Mapping[str, str]
) -> str:
    """Serve the script of a run, and return the name of its model."""
    file = job.task.oracle if mode == "oracle" else job.task.wrong
    name = f"{job.task.name}-{mode}-{job.number}"
    try:
        scripts.add(load_task_script(job.task, file or "", name, places))
    except BadTask as error:
        raise RunError("setup", str(error)) from error
    return name


@asynccontextmanager
async def _plane(environment: Mapping[str, str], log: Path) -> AsyncIterator[DesktopClient]:
    """Run a control plane while the block runs."""
    folder, data = await asyncio.to_thread(_data_folder)
    arguments = ("--data-dir", str(data), "--listen", "127.0.0.1:0")
    errors = await asyncio.to_thread(log.open, "wb")
    process = PlaneProcess(arguments, environment=environment, errors=errors)
    try:
        ready = await process.start()
        async with DesktopClient(str(ready["url"]), str(ready["token"])) as client:
            yield client
    finally:
        await process.close()
        errors.close()
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _data_folder() -> tuple[Path, Path]:
    folder = Path(tempfile.mkdtemp(prefix="deskhand-eval-"))
    # A control plane of root serves as another user, who must reach its data.
    folder.chmod(0o711)
    data = folder / "data"
    data.mkdir(mode=0o700)
    return folder, data
