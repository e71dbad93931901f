"""Measure the routes of files, and the memory of the agent helper: ``python -m bench.agent_files``.

Arguments are other ``deskhand`` programs, such as that of an older checkout: their services take
turns with ours. ``healthz`` in each table is a request that opens nothing.
"""

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import psutil

from tests.system.services import DESKHAND, Service, service

API = "/api/v0"
ROUNDS = 200

Route = Callable[[], httpx2.Response]


def routes(desktop: Service) -> dict[str, Route]:
    """Return the requests to measure, on small files in the desktop's own directory."""
    http = desktop.http
    started = desktop.post(f"{API}/processes/start", {"command": "mkdir -p bench; pwd"})
    ended = desktop.get(f"{API}/processes/{started['id']}/output?wait=true")
    folder = ended["output"].strip() + "/bench"
    file, edited = f"{folder}/file", f"{folder}/edited"
    for path in (file, edited):
        http.post(f"{API}/write-file", params={"path": path}, content="one two\n" * 100)
    turns = [0]

    def edit() -> httpx2.Response:
        turns[0] += 1
        texts = ("one two", "two one")
        old, new = texts if turns[0] % 2 else texts[::-1]
        edits = [{"old_text": old, "new_text": new, "replace_all": True}]
        return http.post(f"{API}/edit-files", json={"files": [{"path": edited, "edits": edits}]})

    def post(name: str, **options: Any) -> Route:
        return lambda: http.post(f"{API}/{name}", **options)

    named = {"path": file}
    return {
        "healthz": lambda: http.get("/healthz"),
        "read-file": lambda: http.get(f"{API}/read-file", params=named),
        "read-file-lines": lambda: http.get(f"{API}/read-file-lines", params=named),
        "list-directory": post("list-directory", params={"path": folder}),
        "write-file": post("write-file", params={"path": f"{folder}/new"}, content="one\n" * 100),
        "edit-files": edit,
        "search": post("search", json={"path": folder, "pattern": "two"}),
    }


def helper_memory(desktop: Service) -> str:
    """Return the memory of the service's agent helper."""
    for process in psutil.Process(desktop.ready["pid"]).children(recursive=True):
        if any("agent_helper" in part for part in process.cmdline()):
            memory = process.memory_full_info()
            return f"PSS {memory.pss / 2**20:.1f} MiB, USS {memory.uss / 2**20:.1f} MiB"
    return "no helper"


def main(programs: list[str]) -> int:
    taken: dict[str, dict[str, list[float]]] = {}
    with TemporaryDirectory() as folder, ExitStack() as stack:
        desktops = {
            program: stack.enter_context(
                service(Path(folder) / f"{number}.log", "desktop", program=(program,))
            )
            for number, program in enumerate(programs)
        }
        for program, desktop in desktops.items():
            print(f"{program}: helper at rest {helper_memory(desktop)}")
        ways = {program: routes(desktop) for program, desktop in desktops.items()}
        for _ in range(ROUNDS):
            for program, requests in ways.items():
                for name, request in requests.items():
                    began = time.perf_counter()
                    assert request().is_success
                    spent = (time.perf_counter() - began) * 1000
                    taken.setdefault(name, {}).setdefault(program, []).append(spent)
        for program, desktop in desktops.items():
            print(f"{program}: helper after the requests {helper_memory(desktop)}")
    for name, by_program in taken.items():
        for program, times in by_program.items():
            # On a loaded machine the lowest decile is closest to the time without load.
            low, *_, high = quantiles(times, n=10)
            shown = f"p10 {low:6.2f}, median {median(times):6.2f}, p90 {high:6.2f} ms"
            print(f"{name:16} {shown}  {program}")
    return 0


if __name__ == "__main__":
    sys.exit(main([DESKHAND, *sys.argv[1:]]))
