"""Measure one control plane with its database in a file and on a server, in one run.

``python -m bench.cluster``

SQLite and a private PostgreSQL (the distribution's package, on a Unix socket) take turns, and
PostgreSQL with a bucket, where the bytes of a step's picture are a row until its turn ends: a list
of 50 chats and of none, chats that are made one after the other, and an agent of 60 steps, as
`bench.agents_overhead` measures one. Times are processor time of the control plane; that of
PostgreSQL and of the bucket is not in them. Exits 1 when a goal is missed while the machine is
quiet.
"""

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from tests.postgres_server import postgres_server
from tests.system.services import Service, service
from tests.tools.store.s3 import make_bucket, s3_service

from .agents_overhead import HERE, MODELS, run, table
from .calls import Plain, cost_of_reads, processor_time
from .tables import exit_status, is_quiet, markdown_table, save

CHATS = 50
STEPS = 60
REST_SECONDS = 5.0
GOALS = {"list of 50 chats (ms)": 5.0, "step (ms)": 25.0}
"""At most; a step of 25 ms is 40 steps a second on one core."""


def of_calls(plane: Service) -> dict[str, float]:
    """Return the milliseconds of processor time of each kind of call."""
    processes = [psutil.Process(plane.process.pid)]
    plain = Plain(plane.url, plane.token)
    path = f"/api/v0/chats?limit={CHATS}"
    found = {}
    # A control plane loads further modules after its start, and at the first request of a kind.
    plane.http.delete(f"/api/v0/chats/{plane.post('/api/v0/chats', {'title': 'First'})['id']}")
    time.sleep(REST_SECONDS)
    found["empty list of chats (ms)"] = cost_of_reads(plain, processes, path)
    begun = time.perf_counter()
    with processor_time(processes, CHATS) as taken:
        for number in range(CHATS):
            plane.post("/api/v0/chats", {"title": f"Chat {number}"})
    found["chat is made (ms)"] = taken["ms"]
    found["chats made a second"] = round(CHATS / (time.perf_counter() - begun), 1)
    found["list of 50 chats (ms)"] = cost_of_reads(plain, processes, path)
    return found


def of_database(environment: Mapping[str, str]) -> dict[str, float]:
    """Return the figures of a control plane with these variables."""
    with tempfile.TemporaryDirectory(prefix="deskhand-", dir="/tmp") as folder:
        Path(folder).chmod(0o711)
        places = ("--data-dir", f"{folder}/data", "--listen", "127.0.0.1:0")
        with service(Path(folder, "log"), "up", *places, environment=dict(environment)) as plane:
            calls = of_calls(plane)
    (model,) = MODELS.values()
    overhead, serving = run(HERE, model, STEPS, environment)
    step = table(overhead, serving)["steps 46 to 55"]
    return {**calls, "step (ms)": step["cpu_ms"], "step takes (ms)": step["median_ms"]}


def main() -> int:
    with postgres_server() as server, s3_service() as bucket:
        make_bucket(bucket, "files")
        stored = {**bucket, "DESKHAND_STORE": "s3://files"}
        databases = {
            "SQLite": {},
            "PostgreSQL": {"DESKHAND_DATABASE": server.database()},
            "PostgreSQL and a bucket": {"DESKHAND_DATABASE": server.database(), **stored},
        }
        found = {name: of_database(environment) for name, environment in databases.items()}
    rows = [(name, *(found[one][name] for one in found)) for name in found["SQLite"]]
    print(markdown_table(("", *found), rows))
    save("cluster", {"goals": GOALS, **found})
    missed = [
        f"{name} on {database}: {figures[name]:g} of at most {most:g}"
        for database, figures in found.items()
        for name, most in GOALS.items()
        if figures[name] > most
    ]
    return exit_status(missed, quiet=is_quiet())


if __name__ == "__main__":
    raise SystemExit(main())
