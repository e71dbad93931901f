"""Send generated requests to every route of a desktop service; no response may be a 500.

    python -m bench.soak_api [--each 200] [--seed 0]

At the first 500 it prints the request and exits with status 1.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from bench.requests_by_schema import Asked, Operation, operations, requests

DESKHAND = str(Path(sys.executable).with_name("deskhand"))
LONGEST = 60.0


def ask(http: httpx2.Client, asked: Asked) -> httpx2.Response:
    """Send one request."""
    return http.request(
        asked.method,
        asked.path,
        params=list(asked.query),
        json=asked.json,
        content=asked.content,
    )


def soak(http: httpx2.Client, each: int, number: int) -> int:
    """Send each operation so many requests; return the number of all."""
    document: dict[str, Any] = http.get("/openapi.json").json()
    counted = 0

    def one(operation: Operation) -> None:
        @seed(number)
        @settings(
            max_examples=each,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(st.data())
        def answered(data: Any) -> None:
            nonlocal counted
            asked = data.draw(requests(operation))
            answer = ask(http, asked)
            counted += 1
            assert answer.status_code != 500, f"{asked}: {answer.text}"

        answered()

    for operation in operations(document):
        one(operation)
        print(f"{counted:6} after {operation.method} {operation.path}", flush=True)
    return counted


def main() -> int:
    """Run a service and send it requests; return 0 when no response was a 500."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given_ = parser.parse_args()
    with subprocess.Popen([DESKHAND, "desktop", "--json"], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            headers = {"Authorization": f"Bearer {ready['token']}"}
            with httpx2.Client(base_url=ready["url"], headers=headers, timeout=LONGEST) as http:
                print(f"{soak(http, given_.each, given_.seed)} requests, no 500")
        finally:
            process.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
