"""Start commands that try to survive, then end them, or their service; no process may be left.

Children leave by setsid, by a double fork, by another one started at SIGTERM, or with an empty
environment. They are ended by a kill of their process, by SIGTERM to the service, or by SIGKILL
to the service or its keeper.
Usage: python -m bench.soak_orphans [--rounds 40] [--commands 12] [--seed 0]
"""

import argparse
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from bench.tables import save
from tests.system.services import Service, service, until

SHAPES = {
    "child": "{sleep} & {sleep}",
    "session": "setsid {sleep} & setsid {sleep} & wait",
    "double fork": "( ( setsid {sleep} & ) & ) ; {sleep}",
    "left by its shell": "( setsid {sleep} & ) ; {sleep} & exit 0",
    "deaf": "trap '' TERM INT HUP; setsid {sleep} & while :; do {sleep}; done",
    "answers with another": "trap '(setsid {sleep} &)' TERM; while :; do {sleep} & wait; done",
    "in a terminal": "setsid {sleep} & {sleep}",
}
BARE = "env -i setsid {sleep} & {sleep}"
"""A process without environment and group, which only the end of the service can find."""


def token(number: int) -> str:
    """Return an argument of ``sleep`` that no other process on this machine has."""
    return f"{10_000_000 + os.getpid() % 10_000}.{number}"


def left(marks: set[str]) -> list[str]:
    """Return the marks of the processes that are alive."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            zombie = b") Z" in (folder / "stat").read_bytes()
        except OSError:
            continue
        if words[0].endswith(b"sleep") and len(words) > 1 and not zombie:
            found += [mark for mark in marks if words[1] == mark.encode()]
    return found


def begun(desktop: Service, shape: str, mark: str) -> str:
    """Start a command and wait until all of its processes sleep; return its id."""
    command = (BARE if shape == "bare" else SHAPES[shape]).format(sleep=f"sleep {mark}")
    body: dict[str, object] = {"command": command}
    if shape == "in a terminal":
        body["pty"] = True
    process_id = str(desktop.post("/api/v0/processes/start", body)["id"])
    wanted = 1 if shape == "answers with another" else 2
    until(lambda: len(left({mark})) >= wanted, f"the sleeps of {shape}")
    return process_id


def killed(desktop: Service, ids: dict[str, str]) -> None:
    """Kill commands through the API; one that has ended still has its descendants killed."""
    for process_id in ids.values():
        path = f"/api/v0/processes/{process_id}/signal"
        answer = desktop.http.post(path, json={"signal": "kill"})
        assert answer.status_code in (200, 409), answer.text


def keeper_killed(desktop: Service) -> None:
    """Kill the process that was started, which is the keeper."""
    desktop.process.kill()


def service_killed(desktop: Service) -> None:
    """Kill the keeper's child."""
    children = Path(f"/proc/{desktop.process.pid}/task/{desktop.process.pid}/children")
    os.kill(int(children.read_text().split()[0]), signal.SIGKILL)


def asked(desktop: Service) -> None:
    """Ask the service to end."""
    desktop.process.terminate()


ENDS: tuple[Callable[[Service], None], ...] = (asked, service_killed, keeper_killed)


def round_of(chance: random.Random, commands: int, folder: Path, seen: Counter[str]) -> float:
    """Run one service with its commands and end it; return the seconds until all were gone."""
    end = chance.choice(ENDS)
    shapes = [chance.choice([*SHAPES, "bare"]) for _ in range(commands)]
    marks = {token(number): shape for number, shape in enumerate(shapes)}
    try:
        with service(folder / "errors.log", "desktop") as desktop:
            ids = {mark: begun(desktop, shape, mark) for mark, shape in marks.items()}
            spared = {"bare", "left by its shell"}
            some = {mark: ids[mark] for mark in ids if marks[mark] not in spared}
            some = dict(chance.sample(sorted(some.items()), len(some) // 2))
            killed(desktop, some)
            until(lambda: not left(set(some)), f"the end of {Counter(marks[m] for m in some)}")
            seen.update(f"{marks[mark]}, killed" for mark in some)
            end(desktop)
            began = time.monotonic()
            until(lambda: not left(set(marks)), f"the end of {Counter(marks.values())}")
            seen.update(f"{shape}, {end.__name__}" for shape in shapes)
            return time.monotonic() - began
    finally:
        for mark in left(set(marks)):
            print(f"left behind: {marks[mark]} ({mark})")


def main() -> None:
    """Print the cases that were tried, and the duration of the slowest end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--commands", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="orphans-") as folder:
        ends = [
            round_of(chance, options.commands, Path(folder), seen) for _ in range(options.rounds)
        ]
    for what, count in sorted(seen.items()):
        print(f"{count:5} {what}")
    print(f"{len(ends)} services, seed {options.seed}: all gone within {max(ends):.2f} s")
    save(
        "soak_orphans",
        {"services": len(ends), "commands": sum(seen.values()), "slowest_s": round(max(ends), 2)},
    )


if __name__ == "__main__":
    main()
