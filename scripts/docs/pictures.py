"""Make the pictures of the documentation: screenshots of the pages, and an animated clip of a run.

Usage: python -m scripts.docs.pictures

It plays the demo in a directory of its own, and takes the pictures of that run in Chromium.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).parents[2] / "docs"
DESKHAND = str(Path(sys.executable).with_name("deskhand"))
LARGEST_CLIP = 2_000_000
WIDTHS = (800, 640, 480, 320)
"""Widths of the clip, largest first; the first whose clip is small enough is kept."""
SIZE = (1440, 900)


def main() -> int:
    """Write the pictures; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        _play(folder)
        with _plane(folder) as http:
            run = _run(http)
            (DOCS / "run.webp").write_bytes(clip(http, run))
            with _page(http) as page:
                _take(page, http, run)
    return 0


def _play(folder: str) -> None:
    command = [DESKHAND, "demo", "--data-dir", folder, "--listen", "127.0.0.1:0", "--json"]
    subprocess.run(
        command, env={**os.environ, "DEMO_EXIT": "1"}, stdout=subprocess.DEVNULL, check=True
    )


@contextmanager
def _plane(folder: str) -> Iterator[httpx2.Client]:
    command = [DESKHAND, "up", "--data-dir", folder, "--listen", "127.0.0.1:0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            ready = json.loads(next(iter(process.stdout or ())))
            headers = {"Authorization": f"Bearer {ready['token']}"}
            with httpx2.Client(base_url=ready["url"], headers=headers, timeout=120) as http:
                yield http
        finally:
            process.terminate()


def _run(http: httpx2.Client) -> str:
    chats: list[dict[str, Any]] = http.get("/api/v0/chats").json()["chats"]
    return str(next(one["id"] for one in chats if one["recording_file_id"]))


def clip(http: httpx2.Client, run: str) -> bytes:
    """Return the run as an animated picture.

    Raises:
        ValueError: If even the smallest one is too large.
    """
    for width in WIDTHS:
        query = {"format": "webp", "width": str(width)}
        answer = http.get(f"/api/v0/recordings/{run}/clip", params=query).raise_for_status()
        if len(answer.content) <= LARGEST_CLIP:
            return answer.content
    raise ValueError(f"the clip has more than {LARGEST_CLIP} bytes")


@contextmanager
def _page(http: httpx2.Client) -> Iterator[Page]:
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        code = http.post("/api/v0/login/codes", json={}).json()["code"]
        page.goto(f"{http.base_url}/login?next=/#code={code}".replace("//login", "/login"))
        page.wait_for_url(f"{http.base_url}".rstrip("/") + "/")
        yield page
        browser.close()


def _take(page: Page, http: httpx2.Client, run: str) -> None:
    root = f"{http.base_url}".rstrip("/")
    page.goto(f"{root}/runs")
    page.locator("#list a").first.wait_for()
    page.screenshot(path=DOCS / "runs.png")
    page.goto(f"{root}/runs/{run}")
    page.get_by_role("tab", name="Steps").click()
    step = page.locator("#steps button").nth(3)
    step.wait_for()
    page.get_by_role("tab", name="Conversation").click()
    page.locator("video").wait_for(state="attached")
    # Near the end of the run the form is filled in.
    page.evaluate("""async () => {
        const video = document.querySelector('video');
        if (video.readyState < 2) {
            await new Promise((done) => video.addEventListener('loadeddata', done, {once: true}));
        }
        const sought = new Promise((done) => video.addEventListener('seeked', done, {once: true}));
        video.currentTime = video.duration * 0.9;
        await sought;
        await new Promise((done) => video.requestVideoFrameCallback(done));
    }""")
    page.screenshot(path=DOCS / "run.png")


if __name__ == "__main__":
    sys.exit(main())
