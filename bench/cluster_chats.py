"""Let 200 chats work on two control planes for minutes.

``python -m bench.cluster_chats [--minutes 10] [--chats 200]``, as root.

A whole deployment (`tests.cluster.deployment`) with a scripted model, which answers at once. Each
chat gets a message, over either control plane in turn; when all are at rest again, each gets the
next one. Exits 1 when there was an error, or memory has grown by more than a tenth since the third
round: these do not depend on the load.
"""

import argparse
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil

from deskhand.tools.agents.scripted.script.script import read_script
from tests.cluster.actions import served_model
from tests.cluster.deployment import Deployment, deployment
from tests.postgres_server import postgres_server
from tests.system.services import until

from .fleet import pss, spent
from .tables import LOAD_BEFORE, exit_status, markdown_table, save

Json = dict[str, Any]
SCRIPT = "bench-chats"
AT_ONCE = 8
WARM_ROUNDS = 3
REST_SECONDS = 5.0
MOST_GROWTH = 1.1
LIMIT = 600.0


def memory(d: Deployment) -> list[float]:
    """Return the memory of each control plane in MiB."""
    return [round(pss(psutil.Process(plane.pid)), 1) for plane in d.planes]


class Chats:
    """The chats of a run, and what has gone wrong."""

    def __init__(self, d: Deployment, number: int) -> None:
        self._d = d
        self.errors: list[str] = []
        with ThreadPoolExecutor(AT_ONCE) as pool:
            made = pool.map(lambda _: d.post("/api/v0/chats", {"prompt": "Begin."}), range(number))
            self.ids = [str(one["id"]) for one in made]
        self.rest()

    def round(self) -> None:
        """Send a message to each, and wait until all are at rest."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self._send, self.ids))
        self.rest()

    def _send(self, chat_id: str) -> None:
        answer = self._d.http.post(f"/api/v0/chats/{chat_id}/messages", json={"message": "Go on."})
        if not answer.is_success:
            self.errors.append(f"{answer.status_code}: {answer.text[:200]}")

    def rest(self) -> None:
        """Wait until all are at rest."""
        until(self._is_at_rest, "chats at rest", LIMIT)

    def _is_at_rest(self) -> bool:
        time.sleep(0.2)
        return all(one["state"] == "waiting" for one in self.listed())

    def listed(self) -> list[Json]:
        """Return all chats."""
        found: list[Json] = []
        cursor = ""
        while True:
            page = self._d.get(f"/api/v0/chats?limit=100{cursor}")
            found += page["chats"]
            if page["next_cursor"] is None:
                return found
            cursor = f"&cursor={page['next_cursor']}"


def worked(d: Deployment, number: int, seconds: float) -> Json:
    """Return what has happened, and the memory at the begin and the end."""
    chats = Chats(d, number)
    for _ in range(WARM_ROUNDS):
        chats.round()
    time.sleep(REST_SECONDS)
    planes = [psutil.Process(plane.pid) for plane in d.planes]
    before, used, begun, rounds = memory(d), sum(map(spent, planes)), time.monotonic(), 0
    while time.monotonic() - begun < seconds:
        chats.round()
        rounds += 1
    lasted, used = time.monotonic() - begun, sum(map(spent, planes)) - used
    time.sleep(REST_SECONDS)
    after = memory(d)
    chats.errors += [one["last_error"] for one in chats.listed() if one["last_error"]]
    (row,) = d.rows("SELECT count(*) FROM messages WHERE role = 'assistant'")
    wanted = number * (1 + WARM_ROUNDS + rounds)
    if int(row[0]) != wanted:
        chats.errors.append(f"{row[0]} answers of {wanted}")
    return {
        "chats": number,
        "minutes": round(lasted / 60, 1),
        "turns": number * rounds,
        "turns a second": round(number * rounds / lasted, 1),
        "processor time of a turn (ms)": round(1000 * used / (number * rounds), 1),
        "errors": len(chats.errors),
        "first errors": chats.errors[:3],
        "memory before (MiB)": before,
        "memory after (MiB)": after,
        "growth": round(max(b / a for a, b in zip(before, after, strict=True)), 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--chats", type=int, default=200)
    options = parser.parse_args()
    script = read_script(SCRIPT, {"steps": [{"say": "Done."}]})
    with (
        postgres_server() as server,
        served_model(script) as environment,
        tempfile.TemporaryDirectory(prefix="dhc", dir="/tmp") as folder,
        deployment(server, Path(folder), environment) as d,
    ):
        found = worked(d, options.chats, 60 * options.minutes)
    print(f"load before: {LOAD_BEFORE}")
    print(markdown_table(("", "measured"), found.items()))
    save("cluster_chats", {"goals": {"errors": 0, "growth": MOST_GROWTH}, **found})
    missed = [f"{found['errors']} errors"] if found["errors"] else []
    if found["growth"] > MOST_GROWTH:
        missed.append(f"memory has grown: {found['growth']:g} times")
    return exit_status(missed, quiet=True)


if __name__ == "__main__":
    raise SystemExit(main())
