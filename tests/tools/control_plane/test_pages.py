import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from starlette.testclient import TestClient

from deskhand.tools.control_plane.pages import FOLDER, ErrorPageMiddleware, ErrorPages, router

PAGES = {"/": "", "/desktops/d1": "../", "/runs/c1": "../", "/login": ""}


@pytest.fixture
def browser() -> TestClient:
    app = FastAPI()
    app.include_router(router())
    return TestClient(app)


@pytest.mark.parametrize(("path", "root"), PAGES.items())
def test_pages_load_files_that_are_there_by_relative_addresses(
    path: str, root: str, browser: TestClient
) -> None:
    page = browser.get(path)
    assert "default-src 'self'" in page.headers["content-security-policy"]
    named = re.findall(r'<(?:link|script|img)[^>]*?(?:src|href)="([^"]+)"', page.text)
    assert named
    for name in named:
        assert name.startswith(root)
        assert browser.get("/" + name.removeprefix(root)).status_code == 200, name


def test_pages_connect_to_the_nodes_of_the_settings_only() -> None:
    app, alone = FastAPI(), FastAPI()
    app.include_router(
        router(("https://e.example",), nodes=("*.desk.example.com", "n7.example.com:8443"))
    )
    alone.include_router(router(("https://e.example",)))
    for path in PAGES:
        host = {"Host": "attacker.example"}
        policy = TestClient(app).get(path, headers=host).headers["content-security-policy"]
        named = "wss://*.desk.example.com wss://n7.example.com:8443"
        is_sign_in = path == "/login"
        assert (f"connect-src 'self' {named};" in policy) != is_sign_in
        assert ("frame-ancestors 'self' https://e.example" in policy) != is_sign_in
        assert "attacker" not in policy
        policy = TestClient(alone).get(path, headers=host).headers["content-security-policy"]
        assert "connect-src" not in policy
    for path in ("/desktops/d1", "/runs/c1"):
        assert '<meta name="live-tickets"' in TestClient(app).get(path).text
        assert '<meta name="live-tickets"' not in TestClient(alone).get(path).text


@pytest.mark.parametrize(
    "page", ["compare.html", "home.html", "live.html", "run.html", "system.html"]
)
def test_pages_hold_no_inline_script_or_style(page: str) -> None:
    text = (FOLDER / page).read_text()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", text)
    assert all('src="' in clip_etag for clip_etag in re.findall(r"<script[^>]*>", text))


def test_modules_import_only_what_is_served(browser: TestClient) -> None:
    for path in FOLDER.rglob("*.js"):
        text = path.read_text()
        if "vendor" in path.relative_to(FOLDER).parts:
            # Unchanged files, which a test compares with the hashes of a table.
            continue
        # The name of a namespace is no address that is requested.
        text = text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text, path
        assert "https://" not in text, path
        assert "innerHTML" not in text, path
        for name in re.findall(r'from "([^"]+)"', text):
            target = _served(path, name)
            assert browser.get(target).status_code == 200, f"{path.name} imports {name}"


def _served(module: Path, name: str) -> str:
    """Return the path of the request for a module that ``module`` imports by ``name``."""
    folder = module.parent.relative_to(FOLDER).as_posix()
    return urljoin(f"/assets/{folder}/", name) if folder != "." else urljoin("/assets/", name)


def test_elements_that_modules_ask_for_are_in_their_page() -> None:
    for page in ("home", "live", "run"):
        markup = (FOLDER / f"{page}.html").read_text()
        for module in (FOLDER / f"{page}.js", *(FOLDER / page).rglob("*.js")):
            for name in re.findall(r'byId\("([^"]+)"\)', module.read_text()):
                assert f'id="{name}"' in markup, f"{page}.html has no {name}"


@pytest.mark.parametrize("path", ["/assets/none.js", "/assets/home.html", "/desktops", "/runs/a/b"])
def test_what_is_no_page_is_not_found(path: str, browser: TestClient) -> None:
    assert browser.get(path).status_code == 404


ERRORS = {
    400: "This cannot be shown",
    401: "You are not signed in",
    403: "This sign-in does not permit that",
    404: "There is no such page",
    502: "This does not answer now",
    503: "This does not answer now",
}


def failing() -> TestClient:
    app = FastAPI()

    @app.get("/api/v0/things/{status}")
    async def thing(status: int) -> JSONResponse:
        return JSONResponse({"message": "No."}, status)

    app.add_middleware(ErrorPageMiddleware, pages=ErrorPages())
    return TestClient(app)


@pytest.mark.parametrize(("status", "title"), ERRORS.items())
def test_a_browser_gets_a_page_in_place_of_an_error_in_json(status: int, title: str) -> None:
    page = failing().get(f"/api/v0/things/{status}", headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.status_code == status
    assert page.headers["content-type"].startswith("text/html")
    assert f"<h1>{title}</h1>" in page.text
    # One way to continue, beside the link of the product's name.
    assert page.text.count("<a ") == 2
    assert not {"ROOT", "NEXT"} & set(re.findall("[A-Z]{4}", page.text))


def test_programs_get_errors_in_json_and_data_stays_data() -> None:
    client = failing()
    assert client.get("/api/v0/things/404").json() == {"message": "No."}
    html = {"Accept": "text/html"}
    assert client.get("/api/v0/things/200", headers=html).json() == {"message": "No."}
    assert client.head("/api/v0/things/404", headers=html).status_code == 405
