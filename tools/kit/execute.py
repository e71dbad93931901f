"""The tool that runs shell commands.

The tool starts a process on the machine and waits for its exit, at most for the timeout of the
call. After that the process goes on, and the result names its id. Every request may fail without
a response, so the result must never claim more than is known:

- The start got no response: the tool sends the same start again. The machine starts a call (by its
  id) only once. If that fails too, the outcome is unknown.
- The wait got no response: the tool reads the state once. If that fails too, the process was
  started, and its result is unknown.
- A person interrupts the call: the machine cancels it, whether it has started or not.
- A person is in control in private: the machine starts nothing. The tool waits for the end of
  their session and sends the start again.

A browser in the background is watched for a moment: one that cannot start exits at once, and the
model would otherwise wait for its window.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import quote

from deskhand.desktop.durations import format_duration
from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import (
    Field,
    Fields,
    any_text,
    duration,
    filled_text,
    spoken_flag,
)
from deskhand.tools.kit.support.arguments import INTENT, CheckedTool, read_arguments, unusable
from deskhand.tools.kit.support.background_suffix import without_background_suffix
from deskhand.tools.kit.support.process_result import (
    SNAPSHOT_TIMEOUT,
    Unreachable,
    read_output,
    result_fields,
    wait_output,
)
from deskhand.tools.kit.support.spec import (
    HUMAN_IN_CONTROL,
    Json,
    MachineRefused,
    MachineUnavailable,
    NoMachine,
    ToolContext,
    ToolOutcome,
    ToolSpec,
)
from deskhand.tools.kit.support.workdir_path import absolute_path

ENVIRONMENT = {
    "CODER_CHAT_AGENT": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
}
"""Variables that keep programs from prompting: no person can answer."""

LONGEST_WAIT = 300.0
"""Most seconds that one request to the machine waits for the exit of a process."""

INTERRUPT_TIMEOUT = 10.0
"""Seconds for each response while a person waits for an interrupted call to end."""

BROWSER_SECONDS = 2.0
"""Seconds in which a browser that cannot start exits."""

# A shell adds a line about the signal that killed the browser.
_LAST_LINES = 3
_BROWSER = re.compile(r"(?:^|[;&|(]|\bexec\b)\s*(?:\S*/)?browser(?:\s|$)")

# Commands that print whole files, for which `read_file` is the better tool.
_FILE_DUMP = re.compile(r"cat\s|(?:rg|grep)\s.*--include-all|(?:rg|grep)\s+-l\s", re.DOTALL)

_SPEC = ToolSpec.of(
    "execute",
    "Run a shell command (sh -c) on this chat's machine and get its output and exit code. "
    "Use it to build, test, install, search and inspect. Give a long command a long timeout "
    "rather than running it in the background; the background is for servers and watchers. "
    "A command that takes longer than its timeout is not stopped: the result says "
    "timed_out and names the process, to be looked at with process_output or ended with "
    "process_signal. Prompts get no answer: pass flags such as -y. To read or change "
    "files prefer read_file, write_file and edit_files.",
    Fields(
        {
            "command": Field(
                {"type": "string", "description": "The command line, run by sh -c."}, filled_text
            ),
            "timeout": Field(
                {
                    "type": "string",
                    "description": "How long to wait for it, as 30s, 5m or 1h30m. Default 10s.",
                },
                duration,
                10.0,
            ),
            "workdir": Field(
                {
                    "type": "string",
                    "description": "Directory to run it in, absolute or from the working "
                    "directory, which is the default.",
                },
                any_text,
                "",
            ),
            "run_in_background": Field(
                {
                    "type": "boolean",
                    "description": "Return at once with a process id. For servers and watchers.",
                },
                spoken_flag,
                False,
            ),
            INTENT: Field(
                {
                    "type": "string",
                    "description": "What this is for, in a few words; shown to the user.",
                },
                any_text,
            ),
        },
        ("command",),
    ),
)


@dataclass(frozen=True)
class _Run:
    command: str
    workdir: str
    background: bool
    timeout: float
    note: str


class ExecuteTool(CheckedTool):
    """Starts a process, and waits for its exit unless it is a background process."""

    def __init__(
        self,
        longest_timeout: float = 4 * 3600.0,
        clock: Callable[[], float] = time.monotonic,
        output_tool: str = "process_output",
    ) -> None:
        self._longest = longest_timeout
        self._clock = clock
        self._output_tool = output_tool

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Run the command. Cancelling this call leaves the process running."""
        try:
            run = await _located(self._read(given), context)
        except Unreachable as error:
            return ToolOutcome(error=str(error))
        try:
            started, report = await self._start(run, context)
        except NoMachine as error:
            return ToolOutcome(error=str(error))
        except MachineUnavailable as error:
            return ToolOutcome(self._unknown(error))
        except MachineRefused as error:
            return ToolOutcome(_not_started(error, run))
        process_id = str(started["id"])
        if run.background:
            result = await self._background(run, context, process_id)
        else:
            # A repeated call finds its process already running: the timeout counts from its start.
            began = self._clock() - max(float(started.get("age_ms") or 0), 0.0) / 1000
            result = await self._watched(run, context, process_id, began)
            if took := int((self._clock() - began) * 1000):
                result["wall_duration_ms"] = took
        notes = [str(one) for one in (report, result.get("note"), run.note) if one]
        return ToolOutcome(result | ({"note": " ".join(notes)} if notes else {}))

    async def interrupted(self, arguments: Json, context: ToolContext) -> ToolOutcome | None:
        """Prevent the start of the command or stop it; None if the machine cannot know the call."""
        if not context.tool_call_id:
            return None
        try:
            run = await _located(self._read(read_arguments(_SPEC, arguments)), context)
            # Providers choose the ids of calls; quoted, an id cannot leave its part of the path.
            call_id = quote(context.tool_call_id, safe="")
            await context.machine.request(
                "POST", f"/api/v0/tool-calls/{call_id}/cancel", timeout=INTERRUPT_TIMEOUT
            )
            return ToolOutcome(await self._stopped(run, context))
        # In both cases `call` cannot have started a process either.
        except (BadField, NoMachine):
            return None
        except MachineRefused as error:
            # A machine without that route has no record of calls.
            return None if error.status == 404 else ToolOutcome(self._unknown(error))
        except MachineUnavailable as error:
            return ToolOutcome(self._unknown(error))

    async def _stopped(self, run: _Run, context: ToolContext) -> Json:
        try:
            # After the cancellation, this start returns the process that the call has started. If
            # there is none, the machine refuses this start, and any that is still on its way.
            started = await _post(context, self._order(run, context), INTERRUPT_TIMEOUT)
        except MachineRefused as error:
            if error.code == "tool_call_canceled":
                return _failed("The user interrupted this call before it began: not run.")
            return _not_started(error, run)
        process_id = str(started["id"])
        # A background call waits for no exit, so its interruption waits for none either.
        seconds = 0.0 if run.background else INTERRUPT_TIMEOUT
        try:
            response = await wait_output(context, process_id, seconds)
        except Unreachable as error:
            return self._unknown(error) | {"background_process_id": process_id}
        if response.get("running") and run.background:
            return _backgrounded(process_id)
        result = result_fields(response)
        if response.get("canceled"):
            took = int(response.get("duration_ms") or 0)
            result |= {"success": False, "wall_duration_ms": took}
            result["error"] = f"canceled by the user after {format_duration(took / 1000)}"
        return result

    def _read(self, given: Json) -> _Run:
        command, workdir, timeout = given["command"], given["workdir"], given["timeout"]
        if given["run_in_background"]:
            return _Run(command, workdir, True, 0.0, "")
        plain = without_background_suffix(command)
        if plain is not None:
            return _Run(plain, workdir, True, 0.0, "The trailing & made it a background process.")
        if timeout > self._longest:
            raise unusable(
                "timeout",
                f"a timeout of {format_duration(timeout)} is over the maximum of "
                f"{format_duration(self._longest)}: "
                f"set run_in_background and look at it with {self._output_tool}",
            )
        return _Run(command, workdir, False, timeout, _dump_note(command))

    def _order(self, run: _Run, context: ToolContext) -> Json:
        body: Json = {
            "command": run.command,
            "workdir": run.workdir,
            "env": ENVIRONMENT,
            "background": run.background,
            "tool_call_id": context.tool_call_id,
        }
        if not run.background:
            # The machine refuses a timeout for a background process, as no caller waits for it.
            body["timeout_ms"] = int(run.timeout * 1000)
        return body

    async def _start(self, run: _Run, context: ToolContext) -> tuple[Json, str]:
        """Start the process; also return the report on a person's session that delayed it."""
        report = ""
        while True:
            try:
                return await self._sent(run, context, self._clock()), report
            except MachineRefused as error:
                if error.code != HUMAN_IN_CONTROL:
                    raise
                ended = await context.after_person()
                # Without another session the refusal would be repeated.
                if not ended or ended == report:
                    raise
                report = ended

    async def _sent(self, run: _Run, context: ToolContext, began: float) -> Json:
        body = self._order(run, context)
        try:
            return await _post(context, body)
        except MachineUnavailable:
            # With the call's id a second start is safe: the desktop service starts a call once, and
            # its journal outlives a restart. Where the journal does not know the call,
            # ``call_age_ms`` shows that the call is older than the service, which then refuses it.
            if not context.tool_call_id:
                raise
            # The age must not be 0, which is a first attempt.
            age = int((self._clock() - began) * 1000) + 1
            return await _post(context, body | {"call_age_ms": age})

    async def _background(self, run: _Run, context: ToolContext, process_id: str) -> Json:
        if not _BROWSER.search(run.command):
            return _backgrounded(process_id)
        try:
            response = await wait_output(context, process_id, BROWSER_SECONDS)
        except Unreachable:
            return _backgrounded(process_id)
        if response.get("running"):
            return _backgrounded(process_id)
        result = _backgrounded(process_id) | result_fields(response)
        if not result["success"]:
            how = response.get("signal") or f"status {result['exit_code']}"
            lines = str(response.get("output") or "no output").strip().splitlines()
            last = "; ".join(lines[-_LAST_LINES:])
            result["error"] = f"the browser exited at once with {how}: {last}"
        return result

    async def _watched(
        self, run: _Run, context: ToolContext, process_id: str, began: float
    ) -> Json:
        deadline = began + run.timeout
        lost: Exception | None = None
        response: Json | None = None
        # Long waits are split, so that no single request stays open for hours.
        while (left := deadline - self._clock()) > 0:
            try:
                response = await wait_output(context, process_id, min(left, LONGEST_WAIT))
            except Unreachable as error:
                lost = error
                break
            if not response.get("running"):
                return result_fields(response)
        # A lost wait reveals nothing about the process. Reading the state once decides between
        # finished, still running and unknown.
        if lost or response is None:
            try:
                response = await read_output(context, process_id)
            except Unreachable as error:
                return self._lost(run, process_id, lost, error)
        if not response.get("running"):
            return result_fields(response)
        return self._unfinished(run, process_id, response, lost)

    def _unfinished(
        self, run: _Run, process_id: str, response: Json, lost: Exception | None
    ) -> Json:
        result = result_fields(response) | {
            "success": False,
            "exit_code": -1,
            "background_process_id": process_id,
        }
        if lost:
            result["error"] = (
                f"process still running, but the connection was lost ({lost}): "
                f"use {self._output_tool} with process_id {process_id}"
            )
            return result
        # The timeout is a state and not a failure, hence a note instead of an error.
        return result | {
            "timed_out": True,
            "note": f"Still running after {format_duration(run.timeout)}; it goes on. Use "
            f"{self._output_tool} with process_id {process_id} to wait for it.",
        }

    def _lost(self, run: _Run, process_id: str, lost: Exception | None, error: Exception) -> Json:
        why = lost or f"timed out after {format_duration(run.timeout)}, and then {error}"
        return _failed(
            f"{why}: the process was started, what became of it is not known; "
            f"use {self._output_tool} with process_id {process_id}"
        ) | {"background_process_id": process_id}

    def _unknown(self, error: Exception) -> Json:
        return _failed(
            f"outcome unknown: {error}. The command may have started: look with process_list "
            f"and {self._output_tool} before running it again."
        )


async def _located(run: _Run, context: ToolContext) -> _Run:
    """Return a run with the absolute path of its directory, if the machine's own is not meant."""
    if not run.workdir and not context.workdir:
        return run
    return replace(run, workdir=await absolute_path(run.workdir, context))


async def _post(context: ToolContext, body: Json, timeout: float = SNAPSHOT_TIMEOUT) -> Json:
    response = await context.machine.request(
        "POST", "/api/v0/processes/start", json=body, timeout=timeout
    )
    # An unreadable response may follow a successful start: reported as no response, it makes the
    # outcome unknown instead of failed.
    if not isinstance(response, dict) or "id" not in response:
        raise MachineUnavailable("the machine's answer to the start cannot be read")
    return response


def _failed(error: str) -> Json:
    return {"success": False, "exit_code": -1, "error": error}


def _backgrounded(process_id: str) -> Json:
    return {
        "success": True,
        "exit_code": 0,
        "background_process_id": process_id,
        "backgrounded": True,
    }


def _not_started(error: MachineRefused, run: _Run) -> Json:
    what = "start background process" if run.background else "start process"
    message = f"{what}: {error}"
    # The machine's message names the missing program, but not that every command depends on it.
    if '"sh"' in str(error) and "not found" in str(error):
        message += (
            " Commands need a POSIX shell, as they are run by sh -c: install one, or put the "
            "directory that holds sh into PATH."
        )
    return _failed(message)


def _dump_note(command: str) -> str:
    if not _FILE_DUMP.match(command):
        return ""
    return "To read whole files use read_file: it numbers the lines and pages."
