"""Measure what a step of an agent costs beside the model and the desktop.

``python -m bench.agents_overhead [--steps 300] [--beside DIRECTORY ...]``

Each checkout (this one, and those of ``--beside``, which have an environment ``.venv``) runs
``deskhand up`` with a desktop, and one agent of as many steps types into a terminal. The provider
is a server on loopback that answers at once and reads no more of a request than its length. The
overhead of a step is the time from the end of a reply to the beginning of the next request, less
the time that the desktop reports for it (act, settle, capture, encode). The model is one whose
requests have the newest pictures only, as those of all versions have, so that no checkpoint is
made and requests of all checkouts have about the same size. Exits 1 when the goal for the processor
time of a step is missed while the machine is quiet.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
import psutil

from tests.system.services import service

from .tables import exit_status, is_quiet, save

Json = dict[str, Any]
HERE = Path(__file__).parent.parent
MODELS = {"newest pictures": "claude-opus-4-6"}
RANGES = ((1, 10), (46, 55), (146, 155), (290, 300))
OPENING = (
    ("execute", {"command": "xterm -geometry 200x60+0+0 -e cat", "background": True}, None),
    ("wait", {"duration": 2}, "computer"),
    ("left_click", {"coordinate": [400, 300]}, "computer"),
)
REST_SECONDS = 0.05
LIMIT = 900.0
MOST_CPU_MS = 20.0
"""Goal for a step after the first ten, which contain the start of the recorder."""


@dataclass
class Provider:
    """Answers each request with the next call; notes when it came and when it was answered."""

    steps: int
    began: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """CPU milliseconds of the control plane at the beginning of each request."""
    pid: int = 0
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                began = time.monotonic()
                body = await _body(head, reader)
                self.began.append(began)
                self.sizes.append(len(body))
                self.cpu.append(_cpu_milliseconds(self.pid))
                writer.write(_reply(len(self.began) - 1, self.steps, body))
                await writer.drain()
                self.ended.append(time.monotonic())
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def _cpu_milliseconds(pid: int) -> float:
    """Return the CPU time of ``deskhand up``: of its process, and of that which serves for it."""
    first = psutil.Process(pid)
    serving = [one for one in first.children() if "up" in one.cmdline()]
    return sum(1000 * sum(one.cpu_times()[:2]) for one in (first, *serving))


async def _body(head: bytes, reader: asyncio.StreamReader) -> bytes:
    fields = head.lower()
    if b"content-length:" in fields:
        return await reader.readexactly(int(fields.split(b"content-length:")[1].split(b"\r")[0]))
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


def _call(number: int, steps: int) -> tuple[str, Json, str | None]:
    if number >= steps:
        return "report", {"summary": "Typed.", "outcome": "done", "evidence": []}, None
    if number < len(OPENING):
        return OPENING[number]
    return "type", {"text": f"line {number} of {steps}\n"}, "computer"


def _reply(number: int, steps: int, body: bytes) -> bytes:
    name, arguments, toolset = _call(number, steps)
    # Versions before the report's ``evidence`` refuse nothing that is left out.
    block: Json = {"type": "tool_use", "id": f"toolu_{number:04}", "name": name, "input": {}}
    if toolset is not None:
        block["toolset_name"] = toolset
    usage = {"input_tokens": len(body) // 4, "output_tokens": 1}
    message: Json = {
        **{"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m"},
        **{"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage},
    }
    delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    end = {"stop_reason": "tool_use", "stop_sequence": None}
    events: list[Json] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 30}},
        {"type": "message_stop"},
    ]
    text = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(text)}"
    return f"{head}\r\n\r\n{text}".encode()


@contextmanager
def provider(steps: int) -> Iterator[Provider]:
    """Serve the protocol in a thread until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    model = Provider(steps)
    starting = asyncio.start_server(model.serve, "127.0.0.1", 0, limit=2**26)
    server = asyncio.run_coroutine_threadsafe(starting, loop).result()
    model.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield model
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def run(
    checkout: Path, model: str, steps: int, variables: Mapping[str, str] | None = None
) -> tuple[list[float], Provider]:
    """Return the milliseconds of overhead of each step in one run."""
    with provider(steps) as serving, tempfile.TemporaryDirectory() as folder:
        keys = {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": serving.url}
        environment = {**keys, **(variables or {})}
        program = str(checkout / ".venv/bin/deskhand")
        arguments = ("up", "--listen", "127.0.0.1:0", "--data-dir", f"{folder}/data")
        errors = Path(folder) / "errors"
        with service(errors, *arguments, environment=environment, program=[program]) as plane:
            serving.pid = plane.process.pid
            body = {"prompt": "Type.", "mode": "computer_use", "model": model}
            chat = plane.post("/api/v0/chats", body)["id"]
            _until_at_rest(plane.http, chat)
            found = plane.get(f"/api/v0/chats/{chat}")
            assert len(found["steps"]) >= steps, (found["last_error"], errors.read_text()[-3000:])
    reported = [sum(_stages(step["timings"])) for step in found["steps"]]
    between = zip(serving.ended, serving.began[1:], reported, strict=False)
    return [1000 * (after - before) - inside for before, after, inside in between], serving


def _stages(timings: Json) -> list[float]:
    wanted = ("act", "settle", "capture", "encode")
    return [float(v) for k, v in timings.items() if k.removesuffix("_ms") in wanted]


def _until_at_rest(http: httpx2.Client, chat: str) -> None:
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        state = http.get("/api/v0/chats?limit=1").json()["chats"][0]["state"]
        if state not in ("queued", "running", "interrupting"):
            return
        time.sleep(1)
    raise TimeoutError(chat)


def table(overhead: Sequence[float], serving: Provider) -> Json:
    """Return the medians of ranges of steps, and the mean CPU time, which load changes less."""
    rows: Json = {}
    for first, last in RANGES:
        part = overhead[first - 1 : last]
        if len(part) > last - first:
            rows[f"steps {first} to {last}"] = {
                "median_ms": round(median(part), 1),
                "cpu_ms": round((serving.cpu[last] - serving.cpu[first]) / (last - first), 1),
                "request_kb": round(median(serving.sizes[first - 1 : last]) / 1024),
            }
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--beside", type=Path, action="append", default=[])
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    options = parser.parse_args()
    results: Json = {}
    for kind in options.models:
        for checkout in (HERE, *options.beside):
            overhead, serving = run(checkout, MODELS[kind], options.steps)
            name = "ours" if checkout == HERE else _revision(checkout)
            results.setdefault(kind, {})[name] = table(overhead, serving)
            print(kind, name, json.dumps(results[kind][name]), flush=True)
    save("agents_overhead", results)
    missed = [
        f"{kind}, {steps}: {row['cpu_ms']} ms of at most {MOST_CPU_MS:g}"
        for kind, ways in results.items()
        for steps, row in list(ways["ours"].items())[1:]
        if row["cpu_ms"] > MOST_CPU_MS
    ]
    return exit_status(missed, quiet=is_quiet())


def _revision(checkout: Path) -> str:
    command = ("git", "-C", str(checkout), "rev-parse", "--short", "HEAD")
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
