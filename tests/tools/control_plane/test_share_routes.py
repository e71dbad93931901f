"""Every route of the control plane, asked with a share link of one run."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from deskhand.tools.control_plane import pages
from deskhand.tools.control_plane.openapi.operations import OPERATIONS
from tests.tools.control_plane.fakes import ControlPlaneFixture, control_plane
from tests.tools.control_plane.routes.test_recordings import recorded

RUN = "5cd7d0a5-0000-4000-8000-000000000001"
OTHER = "5cd7d0a5-0000-4000-8000-000000000002"
ANYONE = {"GET /healthz", "GET /readyz", "GET /api/v0/status", "GET /api/v0/people/me"}
"""What each credential may read: ``people/me`` says of it alone what it permits."""
SHARED = {
    *("GET /api/v0/chats/{chat_id}", "GET /api/v0/chats/{chat_id}/events"),
    *("GET /api/v0/runs/{chat_id}", "GET /api/v0/runs/{chat_id}/report.html"),
    *("GET /api/v0/runs/{chat_id}/sheet.png", "GET /api/v0/runs/{chat_id}/trail.png"),
    "GET /api/v0/runs/{chat_id}/waterfall",
    "GET /api/v0/files/{file_id}",
    *(
        f"GET /api/v0/recordings/{{chat_id}}{part}"
        for part in (
            *("", "/video", "/thumbnail", "/clip", "/filmstrip", "/steps.vtt"),
            "/steps/{index}/picture",
        )
    ),
}
"""What each share link of a run may read."""
CONVERSATION = {"GET /api/v0/chats/{chat_id}/messages"}
QUERIES = {"/clip": "?from=1&to=2"}


def shared(folder: Path, *scopes: str) -> ControlPlaneFixture:
    """Return a control plane whose client has a link to a run, beside another run."""
    closing = asyncio.Event()
    # Streams of events end at once.
    closing.set()
    made = control_plane(
        folder,
        scopes=scopes,
        closing=closing,
        pages=[pages.router()],
    )
    chat = recorded(made)
    for wanted in (RUN, OTHER):
        made.chats.known[wanted] = replace(chat, id=wanted, root_id=wanted)
    for file_id in (*chat.recording_file_ids, chat.thumbnail_file_id or ""):
        made.files.known[file_id] = replace(made.files.known[file_id], chat_id=RUN)
    return made


def address(made: ControlPlaneFixture, operation: str, run: str) -> tuple[str, str]:
    """Return method and path of an operation on a run and its first file."""
    method, _, path = operation.partition(" ")
    file_id = made.chats.known[RUN].recording_file_ids[0]
    known = {"chat_id": run, "file_id": file_id, "index": "0", "desktop_id": "d1"}
    path = re.sub(r"{(\w+)(?::\w+)?}", lambda found: known.get(found[1], "x"), path)
    return method, path + next((q for end, q in QUERIES.items() if path.endswith(end)), "")


async def statuses(made: ControlPlaneFixture, run: str) -> dict[str, int]:
    found = {}
    async with made.client() as client:
        for operation in OPERATIONS:
            method, path = address(made, operation, run)
            found[operation] = (await client.request(method, path)).status_code
    return found


@pytest.mark.parametrize(
    ("kind", "readable"), [("view", SHARED), ("conversation", SHARED | CONVERSATION)]
)
def test_a_link_reads_what_belongs_to_its_run_and_nothing_else(
    tmp_path: Path, kind: str, readable: set[str]
) -> None:
    async def scenario() -> None:
        made = shared(tmp_path, f"run:{RUN}:{kind}")
        found = await statuses(made, RUN)
        assert {o for o, status in found.items() if status != 403} == readable | ANYONE
        failed = {o: status for o, status in found.items() if status not in (200, 403)}
        # The readiness of a fake service is not the subject here.
        assert not set(failed) - ANYONE, failed

    asyncio.run(scenario())


@pytest.mark.parametrize("kind", ["view", "conversation"])
def test_a_link_reads_nothing_of_another_run(tmp_path: Path, kind: str) -> None:
    async def scenario() -> None:
        made = shared(tmp_path, f"run:{OTHER}:{kind}")
        for file_id in made.files.known:
            made.files.known[file_id] = replace(made.files.known[file_id], chat_id=RUN)
        found = await statuses(made, RUN)
        assert {o for o, status in found.items() if status != 403} == ANYONE

    asyncio.run(scenario())


def test_of_the_pages_a_link_opens_that_of_its_run(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = shared(tmp_path, f"run:{RUN}:view")
        asked = {f"/runs/{RUN}": 200, f"/runs/{OTHER}": 403, "/": 403, "/runs": 403}
        asked |= {"/desktops/d1": 403, f"/compare?a={RUN}&b={OTHER}": 403}
        async with made.client() as client:
            found = {path: (await client.get(path)).status_code for path in asked}
        assert found == asked

    asyncio.run(scenario())
