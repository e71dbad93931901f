"""`deskhand audit`: shows the audit log, or verifies its hash chains."""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.control_plane.settings import BadSetting

from .control_plane import NoControlPlane, find_address, read_token
from .terminal import print_error, print_json, print_line
from .terminal import settings as read_settings

PATH = "/api/v0/audit"
FAILED, BROKEN = 4, 1
Json = dict[str, Any]


def main(
    url: str | None, data_dir: Path | None, limit: int, subject: str, verify: bool, as_json: bool
) -> int:
    """Print the newest records, or what the verification found; return the exit status."""
    path = f"{PATH}/verification" if verify else PATH
    selected = {} if verify else {"limit": str(limit), "subject": subject}
    try:
        answer = asyncio.run(_asked(url, data_dir, path, selected))
    except (NoControlPlane, BadSetting, DesktopRefused, DesktopUnavailable, OSError) as error:
        print_error(str(error))
        return FAILED
    if as_json:
        print_json(answer)
    else:
        for line in verification(answer) if verify else map(record_line, answer["records"]):
            print_line(line)
    return BROKEN if verify and not answer["intact"] else 0


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


async def _asked(
    url: str | None, data_dir: Path | None, path: str, selected: dict[str, str]
) -> Json:
    settings = read_settings({"data_dir": data_dir})
    address = find_address(settings, url, os.environ)
    if address is None:
        raise NoControlPlane("no control plane runs here; start one with `deskhand up`")
    async with DesktopClient(address, read_token(settings, os.environ)) as client:
        answer: Json = await client.request("GET", path, params=selected)
    return answer
