"""Calls the reservations of Ray for a test: a line of JSON for each call, and one for its result.

Ray ends the process of a driver whose head is gone, so this is not the process of the tests.
"""

import json
import os
import sys
import time

from deskhand.tools.cluster.placing.errors import PlacingError
from deskhand.tools.cluster.placing.rooms import Rooms


def main(address: str, descriptor: int) -> None:
    with os.fdopen(descriptor, "w") as results:
        made: list[Rooms] = []
        for line in sys.stdin:
            name, *arguments = json.loads(line)
            began = time.perf_counter()
            try:
                if not made:
                    made.append(Rooms(address))
                found = {"result": getattr(made[0], name)(*arguments)}
            except PlacingError as error:
                found = {"error": type(error).__name__, "text": str(error)}
            found["seconds"] = time.perf_counter() - began
            results.write(json.dumps(found) + "\n")
            results.flush()


main(sys.argv[1], int(sys.argv[2]))
