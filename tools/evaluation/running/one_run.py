"""One run of a task: a chat with a clean desktop, set-up, agent, checker.

The chat is made without a prompt, and set-up works as this chat, so that its desktop exists before
the agent does. The agent is a child of the chat that shares its desktop. It gets the task's prompt
and budget; its end is awaited, its questions are answered as the task says. The desktop outlives
the agent, so that the checker finds the machine as the agent has left it.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopError, DesktopRefused, DesktopUnavailable
from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.evaluation.checking.checking import Requests, check
from deskhand.tools.evaluation.checking.machine import TaskMachine
from deskhand.tools.evaluation.errors import ErrorKind, RunError
from deskhand.tools.evaluation.places import filled
from deskhand.tools.evaluation.result import Mode, RunResult
from deskhand.tools.evaluation.task import Task

from .pages import PageSlot, ServedPages
from .run_costs import cost_of
from .setup import set_up

Json = dict[str, Any]

NO_ANSWER = "Nobody can answer questions. Decide yourself with what the task says."
GRACE_SECONDS = 15.0
"""Time beyond the limit of a task in which the agent ends by itself."""
NOT_JUDGED = ("model", "no_model", "desktop")
"""Begins of the kinds of errors that say nothing about the model's work."""
CALL_SECONDS = 120.0
STUCK = "The script cannot go on"
"""Begin of the report of a scripted model whose next step is not possible."""


@dataclass(frozen=True)
class EndedAgent:
    """The end of an agent."""

    chat_id: str
    result: Json
    out_of_time: bool


class OneRun:
    """Runs one task once; ``files`` is the folder for recordings of failures."""

    def __init__(
        self,
        client: DesktopClient,
        slot: PageSlot,
        task: Task,
        number: int,
        files: Path,
        mode: Mode = "model",
    ) -> None:
        self._client = client
        self._slot = slot
        self._task = task
        self._number = number
        self._files = files
        self._mode = mode
        self._chat = ""
        self._machine: TaskMachine | None = None

    async def prepare(self) -> dict[str, str]:
        """Make chat and desktop and set them up; return the places of the run.

        Raises:
            RunError: If the desktop or a part of the set-up fails.
        """
        task = self._task
        serve = task.setup.serve
        self._slot.pages = ServedPages(task.folder / serve if serve is not None else None)
        try:
            created = await self._post("/api/v0/chats", {"title": f"{task.name} {self._number}"})
            self._chat = str(created["id"])
            # The first command starts the desktop.
            await self._tool("execute", {"command": "true"})
            chat = await self._client.request("GET", f"/api/v0/chats/{self._chat}")
            if chat["desktop_id"] is None:
                raise RunError("desktop", "no desktop was started")
        except DesktopError as error:
            raise RunError("desktop", f"no desktop was started: {error}") from error
        machine = TaskMachine(self._client, self._chat, str(chat["desktop_id"]))
        self._machine = machine
        try:
            await machine.begin()
            places = self._places(machine)
            await set_up(task, machine, places)
        except DesktopRefused as error:
            raise RunError("desktop", f"the desktop refused a request: {error}") from error
        return places

    async def work(self, model: str | None, places: Mapping[str, str]) -> RunResult:
        """Let the agent work, check the machine, and keep recording and screen of a failure.

        Raises:
            RunError: If the control plane does not answer.
        """
        began = time.monotonic()
        try:
            ended = await self._agent(model, filled(self._task.prompt, places))
            seconds = time.monotonic() - began
            cost = await cost_of(self._read, ended.chat_id, seconds)
        except DesktopError as error:
            raise RunError("desktop", f"the control plane does not answer: {error}") from error
        result = await self._judged(
            RunResult(
                self._task.name,
                self._number,
                "passed",
                outcome=ended.result.get("outcome"),
                report=str(ended.result.get("report", "")),
                ended_by="time" if ended.out_of_time else ended.result.get("last_error_kind"),
                tags=self._task.tags,
                cost=cost,
            ),
            ended,
        )
        if result.status == "passed":
            return result
        return await self._with_recording(await self.with_picture(result), ended.chat_id)

    async def close(self) -> None:
        """Stop the agent, end the desktop and remove the chat."""
        self._slot.pages = None
        if not self._chat:
            return
        try:
            await self._client.request("DELETE", f"/api/v0/chats/{self._chat}", timeout=60.0)
        except DesktopError:
            # The control plane ends all desktops when it ends.
            return

    async def _judged(self, result: RunResult, ended: EndedAgent) -> RunResult:
        machine = self._made()
        kind = str(ended.result.get("last_error_kind") or "")
        reason = str(ended.result.get("last_error") or "")
        if kind.startswith(NOT_JUDGED):
            cause: ErrorKind = "desktop" if kind.startswith("desktop") else "model"
            return as_error(result, RunError(cause, reason))
        try:
            verdict = await check(self._task, machine, self._requests(machine))
        except RunError as error:
            return as_error(result, error)
        if self._mode == "wrong" and result.report.startswith(STUCK):
            # It would fail every checker, so that its failure proves nothing.
            return as_error(result, RunError("setup", f"the wrong script: {result.report}"))
        if verdict.passed:
            return result
        limit = " (its time was over)" if ended.out_of_time else ""
        limit = f" (it was ended: {reason})" if reason and not limit else limit
        return replace(result, status="failed", reason=verdict.reason + limit)

    async def _agent(self, model: str | None, prompt: str) -> EndedAgent:
        """Start the agent and wait for its end, with answers to its questions."""
        limits = self._task.limits
        budget: Json = {"steps": limits.steps, "minutes": limits.seconds / 60}
        # Without prices the costs are not known, and a limit of them would be refused.
        if model is not None and model_facts(model).prices is not None:
            budget["usd"] = limits.usd
        order = {"prompt": prompt, "title": self._task.name, "desktop": "shared", "budget": budget}
        spawned = await self._tool(
            "spawn_computer_use_agent", order | ({"model": model} if model else {})
        )
        chat_id = str(spawned["chat_id"])
        deadline = time.monotonic() + limits.seconds + GRACE_SECONDS
        while True:
            left = max(deadline - time.monotonic(), 0.0)
            waiting = {"chat_id": chat_id, "timeout_seconds": left}
            result = await self._tool("wait_agent", waiting, left + CALL_SECONDS)
            question = result.get("requires_action")
            if question:
                await self._answer(chat_id, question)
            elif not result.get("timed_out"):
                return EndedAgent(chat_id, result, False)
            if time.monotonic() >= deadline:
                await self._tool("interrupt_agent", {"chat_id": chat_id})
                waiting = {"chat_id": chat_id, "timeout_seconds": CALL_SECONDS}
                result = await self._tool("wait_agent", waiting, 2 * CALL_SECONDS)
                return EndedAgent(chat_id, result, True)

    async def _answer(self, chat_id: str, question: Json) -> None:
        human = self._task.human
        if question["kind"] == "approval":
            answer = human.approvals
        else:
            answer = NO_ANSWER if human.answer is None else human.answer
        body = {"answer": answer, "question": question["id"]}
        with suppress(DesktopRefused):
            # It has expired, or the turn has ended: the next wait returns what there is now.
            await self._post(f"/api/v0/chats/{chat_id}/answer", body)

    async def with_picture(self, result: RunResult) -> RunResult:
        """Store the last screen of a run that has not passed."""
        machine = self._machine
        if machine is None:
            return result
        picture = self._files / f"{result.task}-{result.number}.png"
        try:
            # The checker has ended the agent's programs since the picture that it took.
            content = machine.screen.picture or await machine.screenshot()
            await asyncio.to_thread(_write, picture, content)
        except OSError as error:
            return result.with_note(f"The picture could not be stored: {error.strerror}.")
        except (RunError, DesktopRefused):
            return result
        return replace(result, picture=f"{self._files.name}/{picture.name}")

    async def _with_recording(self, result: RunResult, chat_id: str) -> RunResult:
        video = self._files / f"{result.task}-{result.number}.mp4"
        try:
            await asyncio.to_thread(self._files.mkdir, parents=True, exist_ok=True)
            await self._client.download(f"/api/v0/recordings/{chat_id}/video", video)
        except OSError as error:
            return result.with_note(f"The recording could not be stored: {error.strerror}.")
        except DesktopError as error:
            return result.with_note(f"There is no recording: {error}")
        return replace(result, recording=f"{self._files.name}/{video.name}")

    async def _tool(self, name: str, arguments: Json, seconds: float = CALL_SECONDS) -> Json:
        headers = {"Deskhand-Chat-Id": self._chat}
        answer = await self._client.request(
            "POST", f"/api/v0/tools/{name}", json=arguments, headers=headers, timeout=seconds
        )
        if "result" not in answer:
            raise DesktopUnavailable(str(answer.get("error", f"{name} failed")))
        result: Json = answer["result"]
        return result

    async def _read(self, path: str) -> Json:
        answer: Json = await self._client.request("GET", path)
        return answer

    async def _post(self, path: str, body: Json) -> Json:
        answer: Json = await self._client.request("POST", path, json=body, timeout=CALL_SECONDS)
        return answer

    def _made(self) -> TaskMachine:
        assert self._machine is not None  # noqa: S101 - prepare() precedes
        return self._machine

    def _places(self, machine: TaskMachine) -> dict[str, str]:
        return {
            "base_url": self._slot.url,
            "workdir": machine.workdir,
            "home": machine.home,
        }

    def _requests(self, machine: TaskMachine) -> Requests:
        pages = self._slot.pages
        if pages is None:
            return Requests(base_url=self._slot.url)
        return Requests(tuple(pages.posted), tuple(pages.visited), self._slot.url)


def as_error(result: RunResult, error: RunError) -> RunResult:
    """Return the result of a run that could not be judged."""
    return replace(result, status="error", reason=str(error), error_kind=error.kind)


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
