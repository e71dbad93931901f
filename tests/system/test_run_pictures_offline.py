"""Contact sheet, trail, animation and report of a run, opened by a browser without a network."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.system.browsing import plain_page
from tests.system.services import Service

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]

PATIENCE = 90
LOADED = "() => [...document.images].every((image) => image.complete && image.naturalWidth > 0)"
PLAYS = "() => [...document.querySelectorAll('video')].every((video) => video.readyState >= 1)"


@pytest.fixture(scope="module")
def pictures(plane: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a run of the demo's script."""
    folder = tmp_path_factory.mktemp("pictures")
    spawned = plane.tool("spawn_computer_use_agent", prompt="show the date", title="The date")
    chat = str(spawned["chat_id"])
    assert plane.tool("wait_agent", chat_id=chat, timeout_seconds=PATIENCE)["recording_file_id"]
    run = f"/api/v0/runs/{chat}"
    for name, path in (
        ("sheet.png", f"{run}/sheet.png"),
        ("trail.png", f"{run}/trail.png"),
        ("clip.gif", f"/api/v0/recordings/{chat}/clip?format=gif&width=640"),
        ("report.html", f"{run}/report.html"),
        ("report-video.html", f"{run}/report.html?video=1"),
    ):
        answer = plane.http.get(path, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        (folder / name).write_bytes(answer.content)
    return folder


def opened(page: Page, file: Path) -> list[str]:
    """Open a file offline; return what it wanted to load beside itself."""
    wanted: list[str] = []
    page.context.set_offline(True)
    page.on("request", lambda request: wanted.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_function(LOADED)
    return [url for url in wanted if not url.startswith(("data:", file.as_uri()))]


@pytest.mark.slow("a whole run, and its pictures")
def test_pictures_and_reports_open_without_a_network(browser: Browser, pictures: Path) -> None:
    assert (pictures / "clip.gif").stat().st_size <= 8_000_000
    for name in ("sheet.png", "trail.png", "clip.gif"):
        with plain_page(browser, 1440, 900) as page:
            assert opened(page, pictures / name) == []
            assert page.evaluate("document.images[0].naturalWidth") >= 320
    with plain_page(browser, 1440, 900) as page:
        assert opened(page, pictures / "report.html") == []
        expect(page.get_by_role("heading", name="Steps")).to_be_visible()
        expect(page.get_by_role("img", name="Waterfall of the steps")).to_be_visible()
        expect(page.locator("li img").first).to_be_visible()
        assert page.locator("video").count() == 0
        assert page.locator("script, link, iframe").count() == 0


@pytest.mark.slow("a whole run, and its pictures")
def test_a_report_plays_its_video_and_prints_without_it(browser: Browser, pictures: Path) -> None:
    with plain_page(browser, 1440, 900) as page:
        assert opened(page, pictures / "report-video.html") == []
        page.wait_for_function(PLAYS)
        expect(page.locator("video").first).to_be_visible()
        page.emulate_media(media="print")
        expect(page.locator("video").first).to_be_hidden()
        expect(page.get_by_role("heading", name="Time")).to_be_visible()
        printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 1
