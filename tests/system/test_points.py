"""Where clicks really land, as a page in a real browser reports it."""

import asyncio
import json
from pathlib import Path

import pytest

from deskhand.desktop.client.http import DesktopClient
from deskhand.tools.demo.site import Findings, demo_site
from tests.system.services import PATIENCE, Service

pytestmark = pytest.mark.x11

CASES = json.loads((Path(__file__).parents[1] / "data" / "coordinates.json").read_text())["points"]

MODEL = (1280, 720)
NATIVE = (1920, 1080)
COLUMNS = (0, 1, 2, 3, 100, 319, 320, 639, 640, 641, 853, 959, 1277, 1278, 1279)
ROWS = (0, 1, 2, 5, 179, 359, 360, 402, 539, 540, 717, 718, 719)
POINTS = [(COLUMNS[i % len(COLUMNS)], ROWS[(i * 5) % len(ROWS)]) for i in range(36)] + [
    (0, 0),
    (1279, 0),
    (0, 719),
    (1279, 719),
]


def rule(value: int, model: int, native: int) -> int:
    """The rule of the cases, written out in whole numbers: pixel centres, halves up."""
    doubled = (2 * value + 1) * native - model
    return min(max((doubled + model) // (2 * model), 0), native - 1)


def test_the_rule_is_the_one_of_the_given_cases() -> None:
    for case in CASES:
        if tuple(case["from"]) == MODEL and tuple(case["to"]) == NATIVE:
            x, y = case["point"]
            if 0 <= x < MODEL[0] and 0 <= y < MODEL[1]:
                assert [rule(x, 1280, 1920), rule(y, 720, 1080)] == case["expect"]


@pytest.mark.slow("a browser and forty clicks")
def test_forty_points_land_on_the_pixels_of_the_rule(desktop: Service) -> None:
    assert len(POINTS) == 40

    async def scenario(address: str, token: str) -> list[tuple[int, int]]:
        async with demo_site() as (url, findings), DesktopClient(address, token) as desktop:
            await desktop.request(
                "POST",
                "/api/v0/processes/start",
                json={"command": f"browser --kiosk {url}/probe", "background": True},
            )
            await _until(findings, lambda: findings.opened > 0)
            # The page is there; what the browser paints after that is its own business.
            await desktop.action({"action": "wait", "duration": 1, "observe": {"settle": {}}})
            for count, point in enumerate(POINTS, start=1):
                await desktop.action({"action": "left_click", "coordinate": list(point)})
                await _until(findings, lambda count=count: len(findings.clicks) >= count)
            return [(click.x, click.y) for click in findings.clicks]

    seen = asyncio.run(scenario(desktop.url, desktop.token))
    assert seen == [(rule(x, 1280, 1920), rule(y, 720, 1080)) for x, y in POINTS]


async def _until(findings: Findings, true: object) -> None:
    assert callable(true)
    async with asyncio.timeout(PATIENCE):
        while not true():
            await findings.changed.wait()
