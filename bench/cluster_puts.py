"""Count the PUT requests to the bucket that the pictures of a turn's steps take.

``python -m bench.cluster_puts``

An agent works with ``deskhand up`` and a bucket of moto's S3 service, as in
`bench.agents_overhead`; the requests are counted in the log of that service, parts of uploads
included. Recordings and other files are counted apart. Exits 1 when the goal is missed.
"""

import asyncio
import tempfile
from pathlib import Path

from deskhand.tools.store.bucket import Bucket
from deskhand.tools.store.packs.pack import SUFFIX
from deskhand.tools.store.packs.packer import read_index
from tests.tools.store.s3 import S3Requests, make_bucket, s3_service

from .agents_overhead import HERE, MODELS, run
from .tables import exit_status, markdown_table, save

STORE = "s3://bench/files"
STEPS = (1, 10, 200)
GOAL = 3
"""PUT requests for pictures of one turn, at most."""


def of_turn(steps: int) -> dict[str, int]:
    """Return the numbers of PUT requests of a turn."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        with s3_service(log) as environment:
            make_bucket(environment, "bench")
            (model,) = MODELS.values()
            run(HERE, model, steps, {**environment, "DESKHAND_STORE": STORE})
            pictures = asyncio.run(_packed(Bucket(STORE, environment)))
        puts = [name for name in S3Requests(log).of("PUT") if name.startswith("/bench/files/")]
    # Files other than pictures of steps have descriptions.
    described = {name.removesuffix(".json") for name in puts if name.endswith(".json")}
    others = [name for name in puts if name.partition("?")[0].removesuffix(".json") in described]
    return {
        "steps": steps,
        "pictures": pictures,
        "PUTs of pictures": len(puts) - len(others),
        "PUTs of recordings and other files": len(others),
    }


async def _packed(bucket: Bucket) -> int:
    """Return the number of pictures in all packs."""
    packs = [name.rpartition("/")[2] for name in await bucket.names() if name.endswith(SUFFIX)]
    return sum([len(await read_index(bucket, pack)) for pack in packs])


def main() -> int:
    found = [of_turn(steps) for steps in STEPS]
    print(markdown_table(tuple(found[0]), (tuple(one.values()) for one in found)))
    save("cluster_puts", {"goal": GOAL, "turns": found})
    missed = [
        f"{one['steps']} steps: {one['PUTs of pictures']} PUTs of at most {GOAL}"
        for one in found
        if not 0 < one["PUTs of pictures"] <= GOAL
    ]
    # No time is measured.
    return exit_status(missed, quiet=True)


if __name__ == "__main__":
    raise SystemExit(main())
