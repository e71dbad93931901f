"""`deskhand exec`: a command on a desktop, with its output as it comes and its exit code."""

import asyncio
import codecs
import json
import shlex
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, suppress
from typing import Any

from deskhand.desktop.client.lines import StreamedLines
from deskhand.desktop.errors import DesktopRefused
from deskhand.tools.commands.command_body import run_status
from deskhand.tools.commands.desktop_target import DesktopSelector
from deskhand.tools.commands.exit_status import FAILED
from deskhand.tools.commands.output.control_sequences import TerminalText
from deskhand.tools.commands.output.screen import is_terminal
from deskhand.tools.commands.terminal import print_error, print_json, write_bytes

from .routes import DesktopRoutes, desktop_routes

Json = dict[str, Any]
CHUNK = 65_536
PIECE = 16 << 20
"""Bytes of missed output of one request."""


def execute(
    where: DesktopSelector,
    command: Sequence[str],
    workdir: str,
    with_input: bool,
    as_json: bool,
    raw: bool,
) -> int:
    """Run a command and print its output; return its exit code.

    One word is a command line of the shell, several are a program and its arguments. On a terminal
    the output has no control sequences, unless it is wanted ``raw``.
    """
    line = command[0] if len(command) == 1 else shlex.join(command)

    async def work() -> int:
        async with desktop_routes(where) as routes:
            body = {"command": line, "workdir": workdir, "stdin": with_input}
            path = routes.path("/processes/start")
            started = await routes.client.request("POST", path, json=body)
            process = routes.path(f"/processes/{started['id']}")
            sending = asyncio.create_task(_send_input(routes, process, with_input), name="input")
            try:
                cleaning = None if raw or not is_terminal() else TerminalText()
                return await _printed(routes, process, as_json, cleaning)
            except BaseException:
                # Ctrl-C, or the reader of the output is gone: the command must not go on unseen.
                with suppress(DesktopRefused):
                    await routes.client.request(
                        "POST", f"{process}/signal", json={"signal": "terminate"}
                    )
                raise
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)

    return run_status(work)


async def _printed(
    routes: DesktopRoutes, process: str, as_json: bool, cleaning: TerminalText | None
) -> int:
    text: list[str] = []
    async with routes.client.lines(f"{process}/stream") as lines:
        async for kind, data in _events(lines):
            if kind == "output":
                output = await _missed(routes, process, data) + data["output"]
                if as_json:
                    text.append(output)
                else:
                    shown = output if cleaning is None else cleaning.feed(output)
                    write_bytes(shown.encode(errors="replace"))
            elif kind == "exit":
                code = data.get("exit_code")
                if as_json:
                    print_json({"exit_code": code, "output": "".join(text)})
                return FAILED if code is None else int(code)
    print_error("the desktop ended before the command did")
    return FAILED


async def _missed(routes: DesktopRoutes, process: str, event: Json) -> str:
    """Return what the command wrote before an event faster than the stream could send it."""
    missed: list[bytes] = []
    begin, end = event["cursor"] - event["gap_bytes"], event["cursor"]
    for start in range(begin, end, PIECE):
        fields = {"Range": f"bytes={start}-{min(start + PIECE, end) - 1}"}
        try:
            answer = await routes.client.reply(
                "GET", f"{process}/output", params={"raw": "true"}, headers=fields
            )
        except DesktopRefused as error:
            print_error(f"{end - start} bytes of the output are lost: {error}")
            break
        missed.append(answer.content)
    return b"".join(missed).decode(errors="replace")


async def _events(lines: StreamedLines) -> AsyncIterator[tuple[str, Json]]:
    """Yield kind and data of each server-sent event."""
    kind = ""
    while (line := await lines.next()) is not None:
        name, _, value = line.partition(":")
        if name == "event":
            kind = value.strip()
        elif name == "data":
            yield kind, json.loads(value)


async def _send_input(routes: DesktopRoutes, process: str, with_input: bool) -> None:
    """Send the standard input until its end, or until the command does not read it."""
    if not with_input:
        return
    # The route takes text; a character may be divided between two reads.
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with suppress(DesktopRefused):
        async with aclosing(_read_input()) as chunks:
            async for data in chunks:
                body: Json = {"data": decoder.decode(data)}
                await routes.client.request("POST", f"{process}/input", json=body)
        body = {"data": decoder.decode(b"", final=True), "close": True}
        await routes.client.request("POST", f"{process}/input", json=body)


async def _read_input() -> AsyncGenerator[bytes, None]:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    try:
        # A thread that waits in a read could not be cancelled when the command has ended.
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
        )
    except ValueError:
        # A regular file, which never lets a reader wait.
        while data := sys.stdin.buffer.read(CHUNK):
            yield data
        return
    try:
        while data := await reader.read(CHUNK):
            yield data
    finally:
        transport.close()
