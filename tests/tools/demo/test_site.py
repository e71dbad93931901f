import asyncio

import httpx2

from deskhand.tools.demo.site import Findings, ReportedClick, demo_site


def test_the_page_and_its_parts_are_served() -> None:
    async def scenario() -> None:
        async with demo_site() as (url, _), httpx2.AsyncClient(base_url=url, timeout=20) as client:
            for path, media_type in {
                "/": "text/html",
                "/probe": "text/html",
                "/page.css": "text/css",
                "/page.js": "text/javascript",
                "/probe.js": "text/javascript",
            }.items():
                answer = await client.get(path)
                assert answer.status_code == 200
                assert answer.headers["content-type"].startswith(media_type)
            assert (await client.get("/nothing")).status_code == 404
            assert (await client.get("/../site.py")).status_code == 404

    asyncio.run(scenario())


def test_the_reports_of_the_page_are_recorded() -> None:
    async def scenario() -> None:
        async with (
            demo_site() as (url, findings),
            httpx2.AsyncClient(base_url=url, timeout=20) as client,
        ):
            changed = findings.changed
            hit = {"x": 3, "y": 2, "target": "top left", "hit": True}
            assert (await client.post("/clicks", json=hit)).status_code == 204
            assert changed.is_set()
            await client.post("/clicks", json={**hit, "hit": False})
            await client.post("/clicks", json={**hit, "target": None, "hit": False})
            await client.post("/form", json={"name": "n", "comment": "c"})
            await client.post("/ready")
            assert (findings.hits, findings.misses, findings.opened) == (1, 1, 1)
            assert findings.answers[0].comment == "c"

    asyncio.run(scenario())


def test_without_a_report_there_is_no_hit() -> None:
    findings = Findings()
    assert (findings.hits, findings.misses) == (0, 0)
    findings.clicks.append(ReportedClick(x=0, y=0, target="centre", hit=True))
    assert findings.hits == 1
