"""A scripted model that waits before chosen steps until a test releases it."""

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.responses import Response

from deskhand.tools.agents.scripted.script.endpoint import Endpoint
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.request import Request
from deskhand.tools.agents.scripted.script.script import Fault, read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.system.services import PATIENCE, Service, service

Json = dict[str, Any]
COLOURS = ("#204080", "#208040", "#802040", "#808020", "#206080", "#602080", "#a04010", "#10a0c0")


PROVIDERS = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"),
    "gemini": ("GEMINI_API_KEY", "GEMINI_BASE_URL", ""),
    "compatible": ("DESKHAND_OPENAI_API_KEY", "DESKHAND_OPENAI_BASE_URL", "/v1"),
}
"""Variables of the key and of the address, and how the address ends."""


class Gate:
    """One step of the script that waits."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._open = asyncio.Event()
        self._reached = threading.Event()

    def wait(self) -> None:
        """Return when the model was asked for the step."""
        assert self._reached.wait(3 * PATIENCE), "the model was not asked for the step"

    def open(self) -> None:
        """Let the model answer, now and later."""
        self._loop.call_soon_threadsafe(self._open.set)

    async def passed(self) -> None:
        self._reached.set()
        await self._open.wait()


class GatedModel(ScriptedModelServer):
    """The scripted model; ``gates`` are the numbers of the steps that wait."""

    def __init__(self, scripts: Mapping[str, Sequence[Json]], gates: Sequence[int]) -> None:
        super().__init__([read_script(n, {"steps": list(s)}) for n, s in scripts.items()])
        self._loop = asyncio.get_running_loop()
        self.gates = {number: Gate(self._loop) for number in gates}

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which a control plane asks this model."""
        return self.environment_of("anthropic")

    def play(self, steps: Sequence[Json], *gates: int) -> None:
        """Let the agents of a next test take other steps, and wait at other gates."""
        self.open_gates()
        self.add(read_script("gated", {"steps": list(steps)}))
        self.gates = {number: Gate(self._loop) for number in gates}

    def open_gates(self) -> None:
        """Let the model answer at every gate."""
        for gate in self.gates.values():
            gate.open()

    def environment_of(self, provider: str) -> dict[str, str]:
        """Return the variables with which it is asked by a provider's protocol."""
        key, address, path = PROVIDERS[provider]
        return {
            key: self.api_key,
            "DESKHAND_APPROVAL": "auto",
            address: f"{self.url}{path}",
        }

    async def _deliver(
        self,
        endpoint: Endpoint,
        turn: PlayedTurn,
        request: Request,
        fault: Fault | None,
        dropped: Sequence[Json],
    ) -> Response:
        if turn.step in self.gates:
            await self.gates[turn.step].passed()
        return await super()._deliver(endpoint, turn, request, fault, dropped)


@contextmanager
def gated_model(
    steps: Sequence[Json], *gates: int, **others: Sequence[Json]
) -> Iterator[GatedModel]:
    """Serve the model in a thread while the block runs, with the steps of ``others`` by name."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:

        async def entered() -> GatedModel:
            return await GatedModel({"gated": steps, **others}, gates).__aenter__()

        model = asyncio.run_coroutine_threadsafe(entered(), loop).result(PATIENCE)
        try:
            yield model
        finally:
            model.open_gates()
            asyncio.run_coroutine_threadsafe(model.__aexit__(None), loop).result(PATIENCE)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()


@contextmanager
def plane_of(
    folder: Path, model: GatedModel, name: str, provider: str = "anthropic"
) -> Iterator[Service]:
    """A control plane on the data directory of the test, which asks the model as a provider."""
    data = folder / "data"
    with service(
        folder / f"{name}.log",
        *("up", "--data-dir", str(data), "--listen", "127.0.0.1:0", "--model", f"{provider}:gated"),
        environment=model.environment_of(provider),
    ) as found:
        yield found


def painting(colour: str) -> dict[str, Any]:
    """Return a step that gives the whole screen a colour.

    Only trusted X clients may paint the root window, so a window covers it, without the window
    manager. Its program starts when it is mapped (``-wf``).
    """
    terminal = (
        f"xterm -wf -xrm '*overrideRedirect: true' -geometry 400x150+0+0"
        f" -bg '{colour}' -fg '{colour}' -cr '{colour}'"
    )
    shown = "sh -c 'echo > $0; exec sleep 3600' $fifo"
    command = (
        "fifo=$(mktemp -u) && mkfifo $fifo && "
        f"{{ {terminal} -e {shown} > /dev/null 2>&1 & cat $fifo; }} && echo painted"
    )
    return {"calls": [{"execute": {"command": command}}]}


def painted_report(summary: str = "Painted.") -> dict[str, Any]:
    """Return a step that reports."""
    return {"report": {"summary": summary, "outcome": "done"}}


def held_agent_steps() -> list[dict[str, Any]]:
    """Return steps of which the second, a screenshot, waits for a person in control.

    The first gives the agent its desktop. A gate before the second leaves time to take control.
    """
    return [painting(COLOURS[0]), {"calls": [{"computer.screenshot": {}}]}, painted_report()]
