"""Whatever is sent to the routes, the answer is never a fault of ours."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI, HTTPException
from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand.desktop.files import api as files_api
from deskhand.desktop.processes import api as processes_api
from deskhand.desktop.processes.registry import ProcessSettings, Registry
from deskhand.desktop.processes.requests import StartRequest
from tests.desktop.agent_helper.threaded import agent_files
from tests.desktop.files.unprivileged import refused
from tests.desktop.processes.service import FakeSurroundings

Json = dict[str, Any]

FOLDER = "/nonexistent/deskhand"
TEXTS = st.sampled_from(["", "x", FOLDER, "/", "\0", "..", "/dev/null", "\ud800"]) | st.text(
    max_size=20
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def bodies(*names: str) -> st.SearchStrategy[Any]:
    return VALUES | st.dictionaries(st.sampled_from(names), VALUES, max_size=len(names))


EDIT = st.dictionaries(
    st.sampled_from(["old_text", "new_text", "search", "replace", "replace_all"]), VALUES
)
FILE = st.fixed_dictionaries(
    {"path": st.just(FOLDER) | VALUES, "edits": st.lists(EDIT, max_size=2) | VALUES}
)
# The whole disk is not looked through.
ELSEWHERE = st.just(FOLDER) | st.just("/dev/null") | VALUES.filter(lambda value: value != "/")
FIELDS = bodies("pattern", "glob", "literal", "ignore_case", "offset", "limit")
SEARCH = st.tuples(ELSEWHERE, FIELDS).map(
    lambda both: both[1] | {"path": both[0]} if isinstance(both[1], dict) else both[1]
)
ROUTES: list[tuple[str, st.SearchStrategy[Any]]] = [
    ("edit-files", st.fixed_dictionaries({"files": st.lists(FILE, max_size=2)}) | bodies("files")),
    ("list-directory", bodies("path", "relativity")),
    ("search", SEARCH),
    ("processes/start", bodies("env", "workdir", "timeout_ms", "pty", "stdin", "call_age_ms")),
    ("processes/{id}/signal", bodies("signal", "escalate_after_ms")),
    ("processes/{id}/input", bodies("data", "close")),
    ("processes/{id}/resize", bodies("rows", "columns")),
]
QUERIES: list[tuple[str, list[str]]] = [
    ("read-file", ["path", "offset", "limit"]),
    ("read-file-lines", ["path", "offset", "limit", "partial", "max_line_bytes"]),
    ("resolve-path", ["path"]),
    ("processes/list", ["offset", "limit"]),
    ("processes/{id}/output", ["cursor", "limit", "timeout_ms"]),
]
POSTS = st.sampled_from(ROUTES).flatmap(lambda r: st.tuples(st.just(r[0]), r[1]))
WORDS = st.text(st.characters(codec="utf-8"), max_size=10) | st.sampled_from(
    [FOLDER, "-1", "9" * 30, "1", "\u0661", "true", "/", "/proc/self/mem", "/dev/zero", "\0"]
)
GETS = st.sampled_from(QUERIES).flatmap(
    lambda r: st.tuples(
        st.just(r[0]), st.dictionaries(st.sampled_from([*r[1], "other"]), WORDS, max_size=4)
    )
)


@settings(max_examples=15, deadline=None)
@given(st.lists(POSTS, max_size=12), st.lists(GETS, max_size=12))
def test_nothing_sent_is_a_fault_of_ours(
    posts: list[tuple[str, Any]], gets: list[tuple[str, dict[str, str]]]
) -> None:
    async def scene(home: Path) -> None:
        async with (
            agent_files() as files,
            Registry(FakeSurroundings(home), ProcessSettings(close_grace=0.0)) as registry,
        ):
            app = FastAPI()
            once = processes_api.once(registry)
            app.include_router(files_api.router(lambda: home, files, once))
            app.include_router(processes_api.router(registry))
            app.add_exception_handler(HTTPException, refused)
            process_id, _ = await registry.start(StartRequest("exec sleep 1000", stdin=True), None)
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://x") as client:
                for route, body in posts:
                    path = "/api/v0/" + route.replace("{id}", process_id)
                    assert (await client.post(path, content=_json(body))).status_code < 500
                for route, query in gets:
                    path = "/api/v0/" + route.replace("{id}", process_id)
                    assert (await client.get(path, params=query)).status_code < 500

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scene(Path(folder)))


def _json(body: Any) -> bytes:
    return json.dumps(body).encode("utf-8", "surrogatepass")
