"""`deskhand audit`: shows the audit log, or verifies its hash chains."""

import json
import time
from typing import Any

from deskhand.tools.commands.exit_status import DONE, FAILED
from deskhand.tools.commands.http import PlaneConnection, PlaneSelector, run_on_plane
from deskhand.tools.commands.terminal import print_json, print_line

PATH = "/api/v0/audit"
Json = dict[str, Any]


def main(where: PlaneSelector, limit: int, subject: str, verify: bool, as_json: bool) -> int:
    """Print the newest records, or what the verification found; return the exit status."""
    path = f"{PATH}/verification" if verify else PATH
    selected = {} if verify else {"limit": str(limit), "subject": subject}

    async def work(plane: PlaneConnection) -> int:
        answer = await plane.client.request("GET", path, params=selected)
        if as_json:
            print_json(answer)
        else:
            for line in verification(answer) if verify else map(record_line, answer["records"]):
                print_line(line)
        return FAILED if verify and not answer["intact"] else DONE

    return run_on_plane(where, work)


def record_line(record: Json) -> str:
    """Return a record as one line for people."""
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record["at"]))
    details = json.dumps(record["details"], ensure_ascii=False) if record["details"] else ""
    fields = (at, record["actor"] or "-", record["action"], record["subject"] or "-", details)
    return "  ".join(fields).rstrip()


def verification(answer: Json) -> list[str]:
    """Return the result of a verification as lines for people."""
    # A head that was kept elsewhere shows later if records at the end were removed.
    heads = [f"{one['writer']}: record {one['n']}, {one['hash']}" for one in answer["heads"]]
    return [*answer["problems"], "intact" if answer["intact"] else "not intact", *heads]
