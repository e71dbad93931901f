"""The page that the demo's agent works on, served on loopback; it reports what was done to it."""

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
    """One press of a mouse button, in native pixels, as the browser saw it."""

    x: int
    y: int
    target: str | None
    hit: bool


class FormAnswer(BaseModel):
    """What was sent with the form."""

    name: str
    comment: str


@dataclass
class Findings:
    """What the page has reported; ``changed`` is set at every report."""

    clicks: list[ReportedClick] = field(default_factory=list)
    answers: list[FormAnswer] = field(default_factory=list)
    opened: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def hits(self) -> int:
        """How many squares were hit."""
        return sum(click.hit for click in self.clicks)

    @property
    def misses(self) -> int:
        """How many presses were meant for a square and hit none."""
        return sum(not click.hit for click in self.clicks if click.target is not None)

    def tell(self) -> None:
        """Wake whoever waits for a report."""
        self.changed.set()
        self.changed = asyncio.Event()


def create_site(findings: Findings) -> FastAPI:
    """Return the application: the page, the probe, and where they report to."""
    app = FastAPI(openapi_url=None)
    files = {path.name: path.read_bytes() for path in ASSETS.iterdir()}

    @app.get("/{name:path}")
    async def page(name: str) -> Response:
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
        findings.tell()

    @app.post("/form", status_code=204)
    async def answered(answer: FormAnswer) -> None:
        findings.answers.append(answer)
        findings.tell()

    @app.post("/ready", status_code=204)
    async def opened() -> None:
        findings.opened += 1
        findings.tell()

    return app


@contextlib.asynccontextmanager
async def demo_site() -> AsyncIterator[tuple[str, Findings]]:
    """Serve the page while the block runs; yield its address and what it reports."""
    findings = Findings()
    server = Serving(create_site(findings))
    with listening(Address("127.0.0.1", 0)) as (bound, address):
        task = asyncio.create_task(server.serve(sockets=[bound]), name="demo page")
        try:
            yield address.url, findings
        finally:
            server.ask_to_end()
            await task
