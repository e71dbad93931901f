"""`deskhand audit`: shows the audit log, or verifies its hash chains.

Files of nodes, which have chains of their own, are joined with the log of the control planes.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deskhand.tools.audit.chain import ChainVerifier
from deskhand.tools.audit.chain_file import BadChainFile, read_records
from deskhand.tools.commands.exit_status import DONE, FAILED
from deskhand.tools.commands.http import PlaneConnection, PlaneSelector, run_on_plane
from deskhand.tools.commands.terminal import print_error, print_json, print_line

PATH = "/api/v0/audit"
Json = dict[str, Any]


def main(
    where: PlaneSelector,
    limit: int,
    subject: str,
    verify: bool,
    as_json: bool,
    files: Sequence[Path] = (),
) -> int:
    """Print the newest records, or what the verification found; return the exit status."""
    try:
        added = verified_files(files) if verify else records_of(files, subject)
    except (BadChainFile, OSError) as error:
        print_error(str(error))
        return FAILED
    path = f"{PATH}/verification" if verify else PATH
    selected = {} if verify else {"limit": str(limit), "subject": subject}

    async def work(plane: PlaneConnection) -> int:
        found = await plane.client.request("GET", path, params=selected)
        answer = joined_verification(found, added) if verify else joined(found, added, limit)
        if as_json:
            print_json(answer)
        else:
            for line in verification(answer) if verify else map(record_line, answer["records"]):
                print_line(line)
        return FAILED if verify and not answer["intact"] else DONE

    return run_on_plane(where, work)


def records_of(files: Sequence[Path], subject: str) -> Json:
    """Return the records of files, in the form of the HTTP API."""
    found = [record.to_json() for file in files for record in read_records(file)]
    return {"records": [one for one in found if subject in ("", one["subject"])]}


def verified_files(files: Sequence[Path]) -> Json:
    """Return the result of checking the chains of files, in the form of the HTTP API."""
    verifier = ChainVerifier()
    for file in files:
        try:
            for record in read_records(file):
                verifier.add(record)
        except BadChainFile as error:
            verifier.problems.append(str(error))
    problems = verifier.finish()
    heads = [{"writer": one.writer, "n": one.n, "hash": one.hash} for one in verifier.heads]
    return {"intact": not problems, "problems": problems, "heads": heads}


def joined(answer: Json, added: Json, limit: int) -> Json:
    """Return records with those of files, the newest first."""
    if not added["records"]:
        return answer
    # One of equal age comes behind that which continues it.
    found = sorted(added["records"], key=lambda one: (one["at"], one["writer"], one["n"]))
    records = sorted([*answer["records"], *reversed(found)], key=lambda one: -one["at"])
    return {**answer, "records": records[:limit]}


def joined_verification(answer: Json, added: Json) -> Json:
    """Return the result of a verification with that of files."""
    return {
        "intact": answer["intact"] and added["intact"],
        "problems": [*answer["problems"], *added["problems"]],
        "heads": [*answer["heads"], *added["heads"]],
    }


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
