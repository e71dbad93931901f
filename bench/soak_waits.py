"""Wait for commands longer than usual time-outs of servers, many at once.

The case ``process.output/wait_longer_than_http_write_timeout`` takes 25 s, which is too long for
the test suite. It runs here against a desktop, and through a control plane.
Usage: python -m bench.soak_waits [--seconds 25] [--waits 100]
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import httpx2

from bench.tables import save
from tests.system.services import Service, service


async def waits(control_plane: Service, where: str, seconds: int, count: int) -> float:
    """Wait for one command each, all at once; return the delay of the last answer in seconds."""
    limits = httpx2.Limits(max_connections=count)
    async with httpx2.AsyncClient(
        base_url=control_plane.url,
        headers={"Authorization": f"Bearer {control_plane.token}"},
        timeout=seconds + 60,
        limits=limits,
    ) as http:

        async def one() -> float:
            body = {"command": f"sleep {seconds}; echo late"}
            began = time.monotonic()
            started = (await http.post(f"{where}/processes/start", json=body)).json()
            path = f"{where}/processes/{started['id']}/output"
            answer = (await http.get(path, params={"wait": "true"})).json()
            assert (answer["running"], answer["output"]) == (False, "late\n"), answer
            return time.monotonic() - began - seconds

        return max(await asyncio.gather(*(one() for _ in range(count))))


def main() -> None:
    """Print the delay of the last answer of each service."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=25)
    parser.add_argument("--waits", type=int, default=100)
    options = parser.parse_args()
    late: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="waits-") as place:
        folder = Path(place)
        flags = ("--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0")
        with service(folder / "errors.log", "up", *flags) as control_plane:
            desktop = control_plane.post("/api/v0/desktops", {})["id"]
            below = f"/api/v0/desktops/{desktop}"
            late["control plane"] = asyncio.run(
                waits(control_plane, below, options.seconds, options.waits)
            )
        with service(folder / "errors.log", "desktop") as alone:
            late["desktop"] = asyncio.run(waits(alone, "/api/v0", options.seconds, options.waits))
    for where, most in late.items():
        print(f"{options.waits} waits of {options.seconds} s, {where}: at most {most:.2f} s late")
    rounded = {where: round(most, 2) for where, most in late.items()}
    save("soak_waits", {"seconds": options.seconds, "waits": options.waits, "late_s": rounded})


if __name__ == "__main__":
    main()
