"""Routes of OSWorld that run commands and scripts, and perform input."""

import asyncio
import time
from collections.abc import Callable

from .bodies import Json, command_of, script_of, text_of, verification_of, window_of
from .commands import MISSING, collected, found_first, launched, line_of, of_script, words_of
from .commands import text_of as written
from .errors import BadOsworldRequest, OsworldFailure
from .machine import OsworldMachine
from .python_code import code_of, input_of
from .window_choice import chosen

COMMAND_SECONDS = 120.0
PYTHON_SECONDS = 30.0


async def execute(machine: OsworldMachine, body: Json) -> Json:
    """Run a command to its end; code that only calls pyautogui becomes input."""
    asked = command_of(body)
    return await _executed(machine, asked.command, shell=asked.shell)


async def run_python(machine: OsworldMachine, body: Json) -> Json:
    """Run a program of Python."""
    code = text_of(body, "code")
    with machine.caller.step(machine.tool, code):
        script = of_script(machine.folder, "python")
        ended = await machine.run(script, PYTHON_SECONDS, given=code)
    common = {"need_more": False}
    if ended is None:
        late = f"Execution timed out after {PYTHON_SECONDS:.0f} seconds."
        failed = {"message": late, "output": "", "error": late, "return_code": -1}
        return {"status": "error", **common, **failed}
    output, errors = written(ended.output), written(ended.errors)
    done = {"output": output, "error": errors, "return_code": ended.code}
    status, message = ("success", output) if ended.code == 0 else ("error", errors)
    return {"status": status, "message": message, **common, **done}


async def run_bash_script(machine: OsworldMachine, body: Json) -> Json:
    """Run a script of bash; stdout and stderr are one output."""
    asked = script_of(body)
    with machine.caller.step(machine.tool, asked.script):
        ended = await machine.run(
            of_script(machine.folder, "bash", merged=True),
            asked.timeout,
            given=asked.script,
            workdir=asked.folder,
        )
    if ended is None:
        late = f"Script execution timed out after {asked.timeout:g} seconds"
        raise OsworldFailure(late, output="", returncode=-1)
    status = "success" if ended.code == 0 else "error"
    answer = {"status": status, "output": written(ended.output)}
    return {**answer, "error": "", "returncode": ended.code}


async def execute_with_verification(
    machine: OsworldMachine, body: Json, now: Callable[[], float] = time.monotonic
) -> Json:
    """Run a command, and wait until what it should bring about is there."""
    wanted, started = verification_of(body), now()
    answer = await execute(machine, body)
    while True:
        if await _verified(machine, wanted.window, wanted.command):
            passed = {"verification": "passed", "wait_time": round(now() - started, 3)}
            return {**answer, **passed}
        if now() - started >= wanted.longest:
            late = f"Verification failed after {wanted.longest:g} seconds"
            failure = OsworldFailure(late, **{k: v for k, v in answer.items() if k != "status"})
            failure.fields["status"] = "verification_failed"
            raise failure
        await asyncio.sleep(wanted.interval)


async def launch(machine: OsworldMachine, body: Json) -> str:
    """Start a command and answer at once."""
    asked = command_of(body)
    words = _words(asked.command, shell=asked.shell)
    line = line_of(asked.command, words)
    title = asked.command if isinstance(asked.command, str) else " ".join(asked.command)
    with machine.caller.step(machine.tool, title):
        process = await machine.started(launched(machine.folder, line, found_first(words)))
        if (await machine.first_output(process)).startswith(MISSING):
            raise OsworldFailure(f"[Errno 2] No such file or directory: {title.split()[0]!r}")
    return f"{title} launched successfully"


async def _executed(
    machine: OsworldMachine, command: str | tuple[str, ...], *, shell: bool
) -> Json:
    words = _words(command, shell=shell)
    code = None if words is None else code_of(words)
    actions = None if code is None else input_of(code)
    if actions is not None:
        await machine.perform(actions)
        return {"status": "success", "output": "", "error": "", "returncode": 0}
    title = command if isinstance(command, str) else " ".join(command)
    with machine.caller.step(machine.tool, title):
        script = collected(machine.folder, line_of(command, words), checks=found_first(words))
        ended = await machine.run(script, COMMAND_SECONDS)
        if ended is None:
            raise OsworldFailure(f"The command timed out after {COMMAND_SECONDS:.0f} seconds.")
    output, errors = written(ended.output), written(ended.errors)
    return {"status": "success", "output": output, "error": errors, "returncode": ended.code}


async def _verified(machine: OsworldMachine, window: str, command: str | tuple[str, ...]) -> bool:
    if window:
        wanted = window_of({"window_name": window})
        if chosen(await machine.windows(), wanted) is None:
            return False
    if command:
        # A text is a shell's, as in the original.
        found = await _executed(machine, command, shell=isinstance(command, str))
        return bool(found["returncode"] == 0)
    return True


def _words(command: str | tuple[str, ...], *, shell: bool) -> tuple[str, ...] | None:
    try:
        return words_of(command, shell=shell)
    except ValueError as error:
        raise BadOsworldRequest(f"The command cannot be split: {error}.") from error
