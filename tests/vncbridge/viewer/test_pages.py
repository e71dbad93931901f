from pathlib import Path

import pytest
from fastapi import FastAPI, Request, Response
from starlette.testclient import TestClient

from deskhand.vncbridge.viewer.pages import FOLDER, Assets, router, shared_router


@pytest.fixture
def browser() -> TestClient:
    app = FastAPI()
    app.include_router(router(Assets(FOLDER)))
    return TestClient(app)


def test_the_desktops_page_may_load_from_its_own_service_only(browser: TestClient) -> None:
    page = browser.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"].split("; ")
    assert {"default-src 'self'", "frame-ancestors 'self'"} <= set(policy)
    assert page.headers["x-content-type-options"] == "nosniff"


def test_pages_may_be_framed_by_their_own_origin_and_those_that_are_listed() -> None:
    app = FastAPI()
    listed = Assets(FOLDER, ["https://team.example", "https://other.example:8443"])

    @app.get("/page")
    async def page(request: Request) -> Response:
        return listed.page("viewer.html", request)

    policy = TestClient(app).get("/page").headers["content-security-policy"]
    ancestors = "frame-ancestors 'self' https://team.example https://other.example:8443"
    assert ancestors in policy.split("; ")


@pytest.mark.parametrize("page", ["/", "/login"])
def test_pages_name_files_that_are_there_by_relative_addresses(
    page: str, browser: TestClient
) -> None:
    text = browser.get(page).text
    named = [part.split('"')[0] for part in text.replace('href="', 'src="').split('src="')[1:]]
    assert named
    for name in named:
        assert not name.startswith(("/", "http"))
        assert browser.get(f"/{name}").status_code == 200


@pytest.mark.parametrize("page", ["viewer.html", "login.html"])
def test_pages_hold_no_inline_script_or_style(page: str) -> None:
    text = Assets(FOLDER).get(page).data.decode()
    assert "<style" not in text
    assert "style=" not in text
    assert text.count("<script") == text.count('<script type="module" src=')
    assert " on" not in "".join(tag.split(">")[0] for tag in text.split("<button")[1:])


def test_novnc_and_its_licences_are_served_from_here(browser: TestClient) -> None:
    module = browser.get("/viewer/novnc/core/rfb.js")
    assert module.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "export default class RFB" in module.text
    assert "Mozilla" in browser.get("/viewer/novnc/docs/LICENSE.MPL-2.0").text


def test_a_known_file_is_not_sent_again(browser: TestClient) -> None:
    etag = browser.get("/viewer/viewer.js").headers["etag"]
    for known in (f'"other", {etag}', f"W/{etag}", "*"):
        again = browser.get("/viewer/viewer.js", headers={"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b"")
    changed = browser.get("/viewer/viewer.js", headers={"If-None-Match": '"other"'})
    assert changed.status_code == 200


def test_the_head_of_a_page_can_be_asked_for(browser: TestClient) -> None:
    assert browser.head("/").status_code == 200


@pytest.mark.parametrize(
    "path", ["/viewer/none.js", "/viewer/../viewer.py", "/viewer/viewer.html", "/viewer/"]
)
def test_what_is_not_a_file_of_the_viewer_is_not_found(path: str, browser: TestClient) -> None:
    assert browser.get(path).status_code == 404


def test_files_are_served_after_the_folder_is_gone(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.css").write_text("a {}")
    assets = Assets(tmp_path)
    (tmp_path / "inner" / "a.css").unlink()
    app = FastAPI()
    app.include_router(assets.router("/files"))
    assert TestClient(app).get("/files/inner/a.css").text == "a {}"


def test_the_sign_in_page_has_a_button_for_the_provider_that_is_configured() -> None:
    for provider, button in (("", False), ("id.<b>.example", True)):
        app = FastAPI()
        app.include_router(shared_router(Assets(FOLDER), provider))
        page = TestClient(app).get("/login")
        assert ('href="login/oidc">Sign in with id.&lt;b&gt;.example</a>' in page.text) is button
        assert (
            TestClient(app)
            .get("/login", headers={"If-None-Match": page.headers["etag"]})
            .status_code
            == 304
        )
