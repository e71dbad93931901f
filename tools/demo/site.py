"""The page that the demo's agent works on, served on loopback; it reports clicks and forms."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import FastAPI, Response
from pydantic import BaseModel

from deskhand.vncbridge.server.server import Address, Serving, listening

ASSETS = Path(__file__).parent / "assets"
MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


class ReportedClick(BaseModel):
    """One press of a mouse button, in native pixels, as received by the browser."""

    x: int
    y: int
    target: str | None
    hit: bool


class FormAnswer(BaseModel):
    """The values of the submitted form."""

    name: str
    comment: str


@dataclass
class Findings:
    """The reports of the page; ``changed`` is set at every report."""

    clicks: list[ReportedClick] = field(default_factory=list)
    answers: list[FormAnswer] = field(default_factory=list)
    opened: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def hits(self) -> int:
        """Number of squares that were hit."""
        return sum(click.hit for click in self.clicks)

    @property
    def misses(self) -> int:
        """Number of presses that were aimed at a square and hit none."""
        return sum(not click.hit for click in self.clicks if click.target is not None)

    def publish(self) -> None:
        """Wake every task that waits for a report."""
        # Each report has an event of its own: waiters keep the old one, which stays set.
        self.changed.set()
        self.changed = asyncio.Event()


def create_site(findings: Findings) -> FastAPI:
    """Return the application: the page, the probe, and the routes for their reports."""
    app = FastAPI(openapi_url=None)
    files = {path.name: path.read_bytes() for path in ASSETS.iterdir()}

    @app.get("/{name:path}")
    async def page(name: str) -> Response:
        # Names are looked up in the files read at the start, so no path can leave the folder.
        chosen = {"": "page.html", "probe": "probe.html"}.get(name, name)
        if chosen not in files:
            return Response(status_code=404)
        return Response(
            files[chosen],
            media_type=MEDIA_TYPES[Path(chosen).suffix],
            headers={"Cache-Control": "no-store"},
        )

    @app.post("/clicks", status_code=204)
    async def clicked(click: ReportedClick) -> None:
        findings.clicks.append(click)
        findings.publish()

    @app.post("/form", status_code=204)
    async def answered(answer: FormAnswer) -> None:
        findings.answers.append(answer)
        findings.publish()

    @app.post("/ready", status_code=204)
    async def opened() -> None:
        findings.opened += 1
        findings.publish()

    return app


@contextlib.asynccontextmanager
async def demo_site() -> AsyncIterator[tuple[str, Findings]]:
    """Serve the page while the block runs; yield its address and its reports."""
    findings = Findings()
    server = Serving(create_site(findings))
    with listening(Address("127.0.0.1", 0)) as (bound, address):
        task = asyncio.create_task(server.serve(sockets=[bound]), name="demo page")
        try:
            yield address.url, findings
        finally:
            # Awaiting the server lets it close the browser's connections before the socket is
            # closed.
            server.ask_to_end()
            await task
