"""Random runs of an agent whose model binds its thinking to the prefix.

The model is the strict server's check without the server: it refuses a request that does not
continue the one before it, or that another process does not rebuild from the store.
"""

import asyncio
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.chats.chats import Chats
from deskhand.tools.agents.providers.anthropic import wire
from deskhand.tools.agents.providers.errors import ModelUnavailable, NoSummary
from deskhand.tools.agents.providers.merged_messages import merged, picture_ids
from deskhand.tools.agents.providers.port import Compacted, ModelReply, Prompt, Usage
from deskhand.tools.agents.scripted.anthropic.binding import mismatches, signed
from deskhand.tools.agents.scripted.anthropic.protocol import read_request
from deskhand.tools.agents.scripted.script.request import Measured
from deskhand.tools.conversation.conversation import Compaction
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.secrets.secret import Secret
from deskhand.tools.secrets.store import SecretStore
from deskhand.tools.store import steps
from deskhand.tools.store.schema import CheckpointRow
from deskhand.tools.store.stored_files import StoredFiles
from tests.tools.agents.chats.fakes import LIMIT, FakeDesktop, FakeMachines, OpenChats, open_chats
from tests.tools.agents.chats.rebuild_request import digest
from tests.tools.store.fakes import database

MODEL = "claude-opus-5-5"
BETAS = frozenset({wire.BINDING_BETA, wire.COMPACTION_BETA})
KINDS = (
    *("act", "batch", "look", "shots", "echo", "broken", "cut", "empty", "secret", "person"),
    *("text", "fault", "interrupt", "restart", "kill", "kill in call"),
)
SUMMARIES = ("made", "no summary", "interrupt", "restart", "kill")
"""What happens to a compaction."""
CALLS: dict[str, list[tuple[str, Json, bool]]] = {
    "act": [("left_click", {"coordinate": [1, 2]}, True)],
    "batch": [
        ("left_click", {"coordinate": [1, 2]}, True),
        ("type", {"text": "x"}, True),
        ("echo", {"say": "between"}, False),
        ("key", {"text": "Return"}, True),
    ],
    "look": [("screenshot", {}, True), ("left_click", {"coordinate": "no"}, True)],
    "shots": [("screenshot", {}, True)] * 14,
    "echo": [("echo", {"say": "long " * 20_000}, False)],
    "broken": [("broken", {}, False), ("wait", {"duration": 1}, True)],
    "cut": [("left_click", {"coordinate": [5, 6]}, True)],
    "secret": [("type_secret", {"name": "mail"}, False)],
    "person": [("left_click", {"coordinate": [3, 4]}, True)],
    "kill in call": [("stuck", {}, False), ("screenshot", {}, True)],
}
_ids = itertools.count(1)


class Stuck:
    """Never answers."""

    spec = ToolSpec("stuck", "Wait.", {"type": "object"})

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        await asyncio.Event().wait()
        return ToolOutcome()


class Rebuilder:
    """The other process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.tools.agents.chats.rebuild_request"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def digest(self, folder: Path, chat_id: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = (str(database(folder / "deskhand.db")), str(folder / "files"), chat_id, MODEL)
        self._process.stdin.write("\t".join(line) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().rstrip("\n")

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(LIMIT)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def rebuilder() -> Iterator[Rebuilder]:
    made = Rebuilder()
    yield made
    made.close()


def flat(body: Json) -> list[str]:
    """The parts of a request in order, without the cache marks."""

    def unmarked(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: unmarked(one) for key, one in value.items() if key != "cache_control"}
        return [unmarked(one) for one in value] if isinstance(value, list) else value

    blocks = [[m["role"], block] for m in body["messages"] for block in m["content"]]
    return [json.dumps(unmarked(one)) for one in (body["system"], body["tools"], *blocks)]


def without_long_cut_rows(kinds: list[str]) -> list[str]:
    """Interrupt rows of cut replies, of which the loop accepts two before it ends the turn."""
    kept: list[str] = []
    for kind in kinds:
        cut = kind in ("cut", "empty")
        kept += ["act", kind] if cut and set(kept[-2:]) <= {"cut", "empty"} else [kind]
    return kept


class BoundModel:
    """Plays the kinds of replies in turn, and checks each request."""

    def __init__(
        self, kinds: list[str], folder: Path, rebuilder: Rebuilder, summaries: Sequence[str] = ()
    ) -> None:
        self.kinds = [*without_long_cut_rows(kinds), "text"]
        self.summaries = list(summaries)
        self.made = 0
        """Summaries that were returned."""
        self.events: asyncio.Queue[str] = asyncio.Queue()
        """Kinds at which the test has to act."""
        self.before: dict[str, Callable[[], None]] = {}
        self.files: StoredFiles
        self.chat_id = ""
        self.requests: list[Json] = []
        self.converted: list[int] = []
        """Messages that each request has converted."""
        self._folder = folder
        self._rebuilder = rebuilder

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        sent = await self._encoded(prompt)
        body: Json = json.loads(sent)
        kind = self.kinds.pop(0)
        try:
            await self._check(body, sent)
        except BaseException as error:
            self.events.put_nowait(f"{type(error).__name__}: {error}")
            raise
        self.before.get(kind, lambda: None)()
        if kind in ("text", "fault", "interrupt", "restart", "kill", "kill in call"):
            self.events.put_nowait(kind)
        if kind == "fault":
            raise ModelUnavailable("no network", 3)
        if kind in ("interrupt", "restart", "kill"):
            on_text("Half a sen")
            await asyncio.Event().wait()
        return self._played(kind, body)

    async def compact(self, prompt: Prompt) -> Compacted:
        body: Json = json.loads(await self._encoded(prompt, compact=True))
        kind = self.summaries.pop(0) if self.summaries else "made"
        try:
            assert mismatches(self._read(body)) == ()
            if self.requests:
                before, asked = flat(self.requests[-1]), flat(body)
                # The messages of an earlier request, which is in the provider's cache.
                assert asked == before[: len(asked)]
        except BaseException as error:
            self.events.put_nowait(f"{type(error).__name__}: {error}")
            raise
        if kind == "no summary":
            raise NoSummary("it is empty")
        if kind != "made":
            self.events.put_nowait(kind)
            await asyncio.Event().wait()
        empty = {"type": "compaction", "content": f"Summary {self.made}.", "signature": ""}
        (block,) = signed(self._read(body), [empty])
        self.made += 1
        self.requests.clear()
        return Compacted((Compaction(block),), Usage(1, 1), block["content"])

    async def _encoded(self, prompt: Prompt, *, compact: bool = False) -> bytes:
        """Only the messages that are new in a turn are converted, as the real adapter does it."""
        messages = merged(prompt.messages)
        parts = prompt.sent.known(messages)
        self.converted.append(len(messages) - len(parts))
        for message in messages[len(parts) :]:
            ids = picture_ids((message,))
            pictures = {one: await self.files.load(one) for one in ids}
            parts.append(wire.message_part(message, pictures))
            prompt.sent.add(message, parts[-1])
        return wire.encoded(prompt, parts, drop_block=True, compact=compact)

    def _played(self, kind: str, body: Json) -> ModelReply:
        blocks: list[Json] = [{"type": "thinking", "thinking": kind, "signature": ""}]
        for name, arguments, toolset in CALLS.get(kind, []):
            call = {
                "type": "tool_use",
                "id": f"call_{next(_ids)}",
                "name": name,
                "input": arguments,
            }
            blocks.append({**call, "toolset_name": "computer"} if toolset else call)
        if kind == "text":
            blocks.append({"type": "text", "text": "Done for now."})
        content = [] if kind == "empty" else list(signed(self._read(body), blocks))
        reason = "tool_use" if CALLS.get(kind) else "end_turn"
        read = tuple(one for one in map(wire.reply_block, content) if one is not None)
        return ModelReply(read, "max_tokens" if kind in ("cut", "empty") else reason, Usage(1, 1))

    def _read(self, body: Json) -> Any:
        measured = Measured("image/png", 1280, 720)
        return read_request(body, lambda _: measured, BETAS)

    async def _check(self, body: Json, sent: bytes) -> None:
        assert mismatches(self._read(body)) == ()
        if self.requests:
            before = flat(self.requests[-1])
            assert flat(body)[: len(before)] == before
        self.requests.append(body)
        rebuilt = await asyncio.to_thread(self._rebuilder.digest, self._folder, self.chat_id)
        assert rebuilt == digest(sent)


async def run_of(
    kinds: list[str], folder: Path, rebuilder: Rebuilder, summaries: Sequence[str] = ()
) -> BoundModel:
    model = BoundModel(kinds, folder, rebuilder, summaries)
    desktop, secret_store, people = FakeDesktop(), SecretStore(), itertools.count(1)

    def person() -> None:
        turn = {"name": "Ann", "keys": 1, "clicks": 1, "private": False}
        desktop.lease = {"holder": {"kind": "nobody"}, "last": {**turn, "seconds": next(people)}}

    model.before["person"] = person
    model.before["secret"] = lambda: secret_store.put(
        Secret("mail", 'correct "horse"', anywhere=True)
    )
    machines = FakeMachines({"desktop-1": desktop})
    async with AsyncExitStack() as stack:
        opened = open_chats(
            folder,
            {MODEL: model},  # type: ignore[dict-item]
            machines=machines,
            tools=(Stuck(),),
            secret_store=secret_store,
        )
        first = await stack.enter_async_context(opened)
        model.files, now = first.files, first
        chat = await first.chats.create(prompt="Go.", mode="computer_use", model=MODEL)
        model.chat_id = chat.id
        while True:
            async with asyncio.timeout(LIMIT):
                kind = await model.events.get()
            assert kind in KINDS, kind
            if kind in ("text", "fault"):
                await now.until(chat.id, "waiting", "error")
                if not model.kinds:
                    await checked_checkpoints(now, model)
                    return model
                await now.chats.send(chat.id, "Go on.")
            elif kind == "interrupt":
                await now.chats.send(chat.id, "Stop, and do this.", interrupt=True)
            else:
                if kind == "restart":
                    await now.chats.close()
                now = await restarted(first, secret_store, stack)


async def checked_checkpoints(chats: OpenChats, model: BoundModel) -> None:
    """Each summary has one checkpoint and one step, and no other checkpoint has taken effect."""

    async def count(session: AsyncSession) -> int:
        return await session.scalar(select(func.count()).select_from(CheckpointRow)) or 0

    assert await chats.store.read(count) == model.made
    views = await chats.store.read(lambda s: steps.views(s, model.chat_id))
    shown = [view.status for view in views if view.tool == "checkpoint"]
    assert shown.count("done") == model.made
    assert set(shown) <= {"done", "failed", "interrupted"}
    chat = await chats.chats.get(model.chat_id)
    assert chat.usage.dropped_thinking == 0


async def restarted(
    first: OpenChats, secret_store: SecretStore, stack: AsyncExitStack
) -> OpenChats:
    """Open the chats once more, as the next program does; the one before is left as it is."""
    chats = Chats(
        first.store,
        first.files,
        first.models,
        first.machines,
        (Stuck(),),
        first.settings,
        secret_store=secret_store,
    )
    await chats.resume()
    stack.push_async_callback(chats.close)
    return OpenChats(chats, first.store, first.files, first.models, first.machines, first.settings)


@pytest.mark.soak
@pytest.mark.slow("thirty requests, each rebuilt by another process")
def test_every_kind_of_event_leaves_the_requests_append_only(
    tmp_path: Path, rebuilder: Rebuilder
) -> None:
    kinds = [kind for one in KINDS for kind in (one, "act")]
    model = asyncio.run(run_of(kinds, tmp_path, rebuilder))
    assert not model.kinds


@pytest.mark.soak
@pytest.mark.slow("twenty requests, each rebuilt by another process")
def test_checkpoints_that_fail_or_are_cut_off_lose_nothing(
    tmp_path: Path, rebuilder: Rebuilder
) -> None:
    kinds = ["shots", "act", "shots", "act", "shots", *["act"] * 10, "shots", "shots", "shots"]
    model = asyncio.run(run_of(kinds, tmp_path, rebuilder, SUMMARIES[1:]))
    assert model.summaries == []
    assert model.made == 2


@pytest.mark.soak
@pytest.mark.slow("random runs, each with restarts")
@pytest.mark.parametrize("runs", [5, pytest.param(25, marks=pytest.mark.full)])
def test_requests_of_random_runs_extend_each_other_outside_checkpoints(
    rebuilder: Rebuilder, runs: int
) -> None:
    @settings(
        max_examples=runs,
        deadline=None,
        # Shrinking a run that hangs would take the limit of waiting each time.
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(
        kinds=st.lists(st.sampled_from([*KINDS, "shots", "shots"]), min_size=3, max_size=15),
        summaries=st.lists(st.sampled_from(SUMMARIES), max_size=4),
    )
    def extend_each_other(kinds: list[str], summaries: list[str]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(run_of(kinds, Path(folder), rebuilder, summaries))

    extend_each_other()


@pytest.mark.soak
def test_each_request_of_a_turn_converts_only_what_is_new(
    tmp_path: Path, rebuilder: Rebuilder
) -> None:
    model = asyncio.run(run_of(["act"] * 8, tmp_path, rebuilder))
    assert model.converted == [1, *[2] * 8]
