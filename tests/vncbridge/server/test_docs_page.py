import re

from fastapi import FastAPI
from starlette.testclient import TestClient

from deskhand.vncbridge.server.docs_page import router


def test_every_route_is_listed_and_nothing_is_asked_of_any_other_place() -> None:
    app = FastAPI(title="One & all", docs_url=None)
    app.include_router(router("<b>More</b> elsewhere."))

    @app.get("/things/{thing}")
    async def thing() -> None:
        """Describe <one> thing."""

    page = TestClient(app).get("/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    assert "<td>GET</td><td><code>/things/{thing}</code></td>" in page.text
    assert "Describe &lt;one&gt; thing." in page.text
    assert "<title>One &amp; all</title>" in page.text
    assert "<b>More</b> elsewhere." in page.text
    assert not re.search(r"https?://|<script|style=", page.text)
