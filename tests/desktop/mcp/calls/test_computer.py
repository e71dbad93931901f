import asyncio
import base64
from typing import Any

import pytest

from deskhand.desktop.errors import BadField, DesktopRefused
from deskhand.desktop.mcp.calls.computer import ComputerCalls
from deskhand.desktop.mcp.calls.images import LARGEST_IMAGE, SMALL_PNG
from deskhand.desktop.mcp.calls.seen_screens import SeenScreens
from deskhand.desktop.mcp.errors import McpError
from deskhand.desktop.mcp.selection import Pictures
from deskhand.desktop.mcp.tool import McpImage
from tests.desktop.mcp.fakes import FakeDesktop, given

ACTION, ACTIONS = "POST /api/v0/desktop/action", "POST /api/v0/desktop/actions"
SCREENSHOT, TREE = "GET /api/v0/desktop/screenshot", "GET /api/v0/desktop/accessibility"
OPEN, LAUNCH = "POST /api/v0/desktop/open", "POST /api/v0/desktop/launch"
PNG = McpImage(b"png", "image/png")


def shown(data: bytes = b"png", frame: str = "f-1", **more: Any) -> dict[str, Any]:
    picture = {
        "screenshot_data": base64.b64encode(data).decode(),
        "screenshot_media_type": "image/png",
    }
    return {"frame_id": frame, "focused_after": {"title": "Terminal"}, **picture, **more}


def calls(
    fake: FakeDesktop, pictures: Pictures = "changed", seen: SeenScreens | None = None
) -> ComputerCalls:
    return ComputerCalls(fake, seen or SeenScreens(), "me", pictures, open_seconds=0.0)


def test_a_look_returns_the_picture_and_a_text_that_suffices() -> None:
    fake = FakeDesktop({ACTION: shown()})
    found = asyncio.run(calls(fake).look(given("computer_look", {})))
    assert found.image == PNG
    assert found.content == {"frame_id": "f-1", "width": 1280, "height": 720}
    assert found.text == (
        "The screen, as it is now. The screen has 1280x720 pixels. "
        'Focused window: "Terminal". Frame f-1.'
    )
    (body,) = fake.sent(ACTION)
    assert body == {"action": "screenshot", "observe": {"screenshot": True, "settle": False}}


def test_a_look_at_a_region_may_be_a_jpeg() -> None:
    fake = FakeDesktop({ACTION: shown()})
    arguments = {"region": [0, 0, 10, 10], "format": "jpeg"}
    assert asyncio.run(calls(fake).look(given("computer_look", arguments))).text.startswith(
        "The region"
    )
    (body,) = fake.sent(ACTION)
    assert body["region"] == [0, 0, 10, 10]
    assert body["observe"]["format"] == "jpeg"


def test_actions_are_performed_in_one_request() -> None:
    reply = shown(results=[{"output": "wait action performed"}], changed_fraction=0.5)
    fake = FakeDesktop({ACTIONS: {**reply, "settled": "quiet"}})
    actions = [{"action": "wait"}]
    found = asyncio.run(calls(fake).act(given("computer_act", {"actions": actions})))
    assert found.image == PNG
    assert found.text.startswith("1 of 1 actions done: wait. The screen rests. 50 % of the screen")
    assert found.text.endswith("The picture shows it in 1280x720 pixels.")
    assert found.content["focused_window"] == "Terminal"
    assert found.content["changed_fraction"] == 0.5
    (body,) = fake.sent(ACTIONS)
    assert body["actions"] == actions
    assert "since" not in body["observe"]


def test_no_picture_is_sent_while_nothing_changes() -> None:
    fake = FakeDesktop({ACTION: shown(), ACTIONS: {"frame_id": "f-1", "results": []}})
    seen = SeenScreens()
    asyncio.run(calls(fake, seen=seen).look(given("computer_look", {})))
    found = asyncio.run(
        calls(fake, seen=seen).act(given("computer_act", {"actions": [{"action": "wait"}]}))
    )
    assert found.image is None
    assert "No picture: the screen looks as in the last one" in found.text
    assert fake.sent(ACTIONS)[0]["observe"]["since"] == "f-1"


def test_pictures_may_be_sent_always_or_never() -> None:
    fake = FakeDesktop({ACTION: shown(), ACTIONS: shown(results=[])})
    seen = SeenScreens()
    wait = {"actions": [{"action": "wait"}]}
    asyncio.run(calls(fake, seen=seen).look(given("computer_look", {})))
    assert asyncio.run(calls(fake, "on", seen).act(given("computer_act", wait))).image == PNG
    assert "since" not in fake.sent(ACTIONS)[-1]["observe"]
    never = asyncio.run(calls(fake, "off", seen).act(given("computer_act", wait)))
    assert (never.image, "switched off" in never.text) == (None, True)
    assert fake.sent(ACTIONS)[-1]["observe"]["screenshot"] is False
    asked = asyncio.run(calls(fake, seen=seen).act(given("computer_act", {**wait, "look": False})))
    assert (asked.image, "picture" in asked.text) == (None, False)


def test_a_look_without_pictures_says_so() -> None:
    fake = FakeDesktop({ACTION: {"frame_id": "f-1"}})
    found = asyncio.run(calls(fake, "off").look(given("computer_look", {})))
    assert (found.image, "Pictures are switched off." in found.text) == (None, True)


def test_a_failed_action_is_an_error_with_the_screen() -> None:
    failed = {"error": {"message": "Key press failed."}}
    fake = FakeDesktop({ACTIONS: shown(results=[failed])})
    found = asyncio.run(
        calls(fake).act(given("computer_act", {"actions": [{"action": "key", "text": "a"}]}))
    )
    assert (found.is_error, found.image) == (True, PNG)


@pytest.mark.parametrize("actions", [None, [], "x", [{"action": "wait"}] * 21])
def test_other_actions_are_refused(actions: Any) -> None:
    with pytest.raises(BadField, match="actions"):
        asyncio.run(calls(FakeDesktop()).act(given("computer_act", {"actions": actions})))


def test_pictures_are_taken_by_a_look_only() -> None:
    with pytest.raises(BadField, match="computer_look takes them"):
        asyncio.run(
            calls(FakeDesktop()).act(given("computer_act", {"actions": [{"action": "zoom"}]}))
        )


def test_the_smaller_of_png_and_jpeg_is_sent() -> None:
    large = b"p" * (SMALL_PNG + 1)
    fake = FakeDesktop({ACTION: shown(large), SCREENSHOT: b"jpeg"})
    found = asyncio.run(calls(fake).look(given("computer_look", {"region": [0, 0, 9, 9]})))
    assert found.image == McpImage(b"jpeg", "image/jpeg")
    assert fake.sent(SCREENSHOT) == [{"region": "0,0,9,9", "format": "jpeg", "quality": "80"}]
    larger = FakeDesktop({ACTION: shown(large), SCREENSHOT: large + b"j"})
    assert asyncio.run(calls(larger).look(given("computer_look", {}))).image == McpImage(
        large, "image/png"
    )


def test_a_picture_over_the_limit_loses_quality() -> None:
    huge = b"p" * (LARGEST_IMAGE + 1)
    fake = FakeDesktop({ACTION: shown(huge), SCREENSHOT: [huge, huge, b"small"]})
    assert asyncio.run(calls(fake).look(given("computer_look", {}))).image == McpImage(
        b"small", "image/jpeg"
    )
    assert [sent["quality"] for sent in fake.sent(SCREENSHOT)] == ["80", "60", "40"]
    hopeless = FakeDesktop({ACTION: shown(huge), SCREENSHOT: huge})
    assert asyncio.run(calls(hopeless).look(given("computer_look", {}))).image is None


def test_widgets_are_listed_with_their_points() -> None:
    buttons = [
        {"role": "button", "name": f"b{n}", "ref": f"e{n}", "rectangle": [0, 0, 30, 60]}
        for n in range(60)
    ]
    fake = FakeDesktop({TREE: {"applications": buttons}})
    found = asyncio.run(calls(fake).find(given("computer_find", {"role": "button"})))
    assert found.text.splitlines()[1] == 'e0 button "b0" at [10,20]'
    assert (len(found.content["widgets"]), found.content["more"]) == (50, 10)
    assert "10 more are not listed" in found.text


def test_a_search_without_finds_passes_on_the_note() -> None:
    fake = FakeDesktop({TREE: {"applications": [], "note": "Start it again."}})
    found = asyncio.run(calls(fake).find(given("computer_find", {"text": "x"})))
    assert found.text == "No widget fits.\nStart it again."
    with pytest.raises(McpError, match="text or role"):
        asyncio.run(calls(fake).find(given("computer_find", {})))


@pytest.mark.parametrize(
    ("target", "route", "body"),
    [
        ("/tmp/a.pdf", OPEN, {"path": "/tmp/a.pdf"}),
        ("~/a", OPEN, {"path": "~/a"}),
        ("https://example.org", OPEN, {"url": "https://example.org"}),
        ("terminal", LAUNCH, {"name": "terminal"}),
    ],
)
def test_a_target_is_opened(target: str, route: str, body: dict[str, Any]) -> None:
    fake = FakeDesktop({ACTION: shown(changed_fraction=0.1), route: {"process_id": "p1"}})
    found = asyncio.run(calls(fake).open(given("computer_open", {"target": target})))
    assert fake.sent(route) == [body]
    assert found.content["process_id"] == "p1"
    assert found.text.startswith(f"Opened {target}.")
    assert "changed" not in found.text


def test_an_address_without_a_scheme_is_opened_too() -> None:
    missing = DesktopRefused(404, "Unknown application.")
    fake = FakeDesktop({ACTION: shown(), LAUNCH: missing, OPEN: {}})
    asyncio.run(calls(fake).open(given("computer_open", {"target": "example.org"})))
    assert fake.sent(OPEN) == [{"url": "https://example.org"}]
    with pytest.raises(DesktopRefused):
        asyncio.run(calls(fake).open(given("computer_open", {"target": "nonsense"})))
