"""Many tabs of a real Chromium, each with one WebSocket for all that it shows."""

import ssl
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.system.browsing import plain_page
from tests.system.certificates import ServerCertificate, server_certificate
from tests.system.recorded_runs import add_recorded_runs, noisy_video
from tests.system.services import PATIENCE, Service, client, reserved_port, service, until
from tests.system.test_whole_browser import sign_in

pytestmark = [pytest.mark.x11, pytest.mark.browser]

TABS = pytest.mark.parametrize("count", [8, pytest.param(12, marks=pytest.mark.full)])
"""Numbers of tabs: a browser opens six connections to a server."""
LARGE = 12 << 20
"""Bytes of a recording: several of the ranges in which pages get it."""
PAUSED = """() => {
  const video = document.querySelector("video");
  return video && video.paused && video.readyState >= 2;
}"""
PAINTED = "image => image.complete && image.naturalWidth > 0"


@contextmanager
def tabs(
    plane: Service, browser: Browser, count: int, *, any_certificate: bool = False
) -> Iterator[list[Page]]:
    """Open the home page in tabs of one browser, which share its connections."""
    with plain_page(browser, any_certificate=any_certificate) as first:
        sign_in(plane, first)
        context: BrowserContext = first.context
        pages = [first, *(context.new_page() for _ in range(count - 1))]
        for page in pages[1:]:
            page.set_default_timeout(PATIENCE * 1000)
            page.goto(plane.url)
        yield pages


@contextmanager
def trusting(
    files: ServerCertificate, started: AbstractContextManager[Service]
) -> Iterator[Service]:
    """Run a service that has a certificate; its client trusts the authority."""
    context = ssl.create_default_context(cafile=str(files.ca))
    with started as plane, client(plane.ready, verify=context) as http:
        yield replace(plane, http=http)


@pytest.mark.soak
@pytest.mark.slow("a desktop, and a dozen pages")
@TABS
def test_all_tabs_are_painted_and_follow_what_happens(
    plane: Service, browser: Browser, count: int
) -> None:
    desktop = plane.post("/api/v0/desktops", {"name": "seen in all tabs"})
    with tabs(plane, browser, count) as pages:
        for page in pages:
            expect(page.get_by_text("seen in all tabs")).to_be_visible()
        # Pictures are sent to the tab that is in front.
        pages[-1].bring_to_front()
        # The desktops of earlier tests may end meanwhile, and their cards go.
        card = pages[-1].locator("#desktops .card").filter(has_text="seen in all tabs")
        image = card.locator("img").first
        expect(image).to_be_visible()
        until(lambda: image.evaluate(PAINTED), "the picture of the desktop")
        assert plane.http.delete(f"/api/v0/desktops/{desktop['id']}").is_success
        for page in pages:
            expect(page.get_by_text("seen in all tabs")).to_have_count(0)


@pytest.mark.soak
@pytest.mark.slow("two control planes, one after the other")
def test_tabs_follow_a_control_plane_that_was_killed_and_started_again(
    browser: Browser, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        # The second control plane has the port of the first, which nothing may take in between.
        listen = f"127.0.0.1:{stack.enter_context(reserved_port())}"
        command = ("up", "--data-dir", str(tmp_path / "data"), "--listen", listen)
        plane = stack.enter_context(service(tmp_path / "first", *command))
        pages = stack.enter_context(tabs(plane, browser, 3))
        plane.post("/api/v0/chats", {"title": "before", "prompt": "say hello"})
        for page in pages:
            expect(page.get_by_text("before").first).to_be_visible()
        plane.process.kill()
        plane.process.wait()
        again = stack.enter_context(service(tmp_path / "second", *command))
        again.post("/api/v0/chats", {"title": "after", "prompt": "say hello"})
        # Without TLS a key ends with its process, and one sign-in is enough for all tabs.
        for page in pages:
            expect(page.get_by_text("Sign in again")).to_be_visible()
        sign_in(again, pages[0])
        for page in pages:
            expect(page.get_by_text("after").first).to_be_visible()


@pytest.mark.soak
@pytest.mark.slow("twelve pages, two control planes, and large recordings")
@TABS
def test_tabs_with_paused_recordings_hold_no_connection_and_catch_up(
    browser: Browser, tmp_path: Path, count: int
) -> None:
    video = tmp_path / "noise.mp4"
    seconds = noisy_video(video, LARGE)
    recorded = [f"recorded-{number}" for number in range(4)]
    add_recorded_runs(tmp_path / "data", recorded, video, seconds)
    # A session outlives the process only with TLS.
    files = server_certificate(tmp_path / "certificates", "127.0.0.1")
    over_tls = ("--tls-cert", str(files.cert), "--tls-key", str(files.key))
    with ExitStack() as stack:
        # The second control plane has the port of the first, which nothing may take in between.
        listen = f"127.0.0.1:{stack.enter_context(reserved_port())}"
        command = ("up", "--data-dir", str(tmp_path / "data"), "--listen", listen, *over_tls)
        plane = stack.enter_context(trusting(files, service(tmp_path / "first", *command)))
        pages = stack.enter_context(tabs(plane, browser, count, any_certificate=True))
        players, homes = pages[:4], pages[4:]
        for page, name in zip(players, recorded, strict=True):
            page.goto(f"{plane.url}/runs/{name}")
            page.wait_for_function(PAUSED)
        # Each paused video has most of its bytes still to read; the other tabs load all the same.
        for page in homes:
            page.reload()
            expect(page.get_by_text("recorded-0").first).to_be_visible()
        renamed = plane.http.patch(f"/api/v0/chats/{recorded[0]}", json={"title": "seen at once"})
        assert renamed.is_success
        for page in (players[0], *homes):
            expect(page.get_by_text("seen at once").first).to_be_visible()
        for page in pages:
            page.evaluate("window.notReloaded = true")
        plane.process.kill()
        plane.process.wait()
        again = stack.enter_context(trusting(files, service(tmp_path / "second", *command)))
        for name in recorded:
            path = f"/api/v0/chats/{name}"
            assert again.http.patch(path, json={"title": f"{name} later"}).is_success
        for page, name in zip(players, recorded, strict=True):
            expect(page.get_by_text(f"{name} later").first).to_be_visible()
        for page in homes:
            expect(page.get_by_text("recorded-0 later").first).to_be_visible()
        assert all(page.evaluate("window.notReloaded") for page in pages)
