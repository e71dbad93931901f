from deskhand.desktop.geometry import Size
from deskhand.desktop.mcp.calls.screen_view import ScreenView
from deskhand.desktop.mcp.calls.seen_screens import SeenScreen, SeenScreens

VIEW = ScreenView(Size(8, 6), Size(8, 6))


def test_each_caller_has_its_own_screen() -> None:
    seen = SeenScreens()
    seen.keep("a", SeenScreen(VIEW, "f-1"))
    seen.keep("b", SeenScreen(VIEW, "f-2"))
    seen.keep("a", SeenScreen(VIEW, "f-3"))
    assert (seen.get("a"), seen.get("c")) == (SeenScreen(VIEW, "f-3"), None)


def test_the_least_recent_caller_is_forgotten() -> None:
    seen = SeenScreens(2)
    for key in ("a", "b", "a", "c"):
        seen.keep(key, SeenScreen(VIEW))
    assert seen.get("b") is None
    assert seen.get("a") is not None
