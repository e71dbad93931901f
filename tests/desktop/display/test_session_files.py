import stat
from pathlib import Path

from deskhand.desktop.browser.policy import decide
from deskhand.desktop.display.session_files import SessionFiles, session_environment


def test_commands_find_the_scripts_before_the_session_is_started(tmp_path: Path) -> None:
    home = tmp_path / "home"
    launch = decide("/opt/my browser", "auto", "")
    for _ in range(2):
        SessionFiles.read().write(tmp_path, {"HOME": str(home)}, launch)
    script = tmp_path / "bin" / "browser"
    assert "'/opt/my browser'" in script.read_text()
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    # The agent helper makes the directories of the agent.
    assert not home.exists()
    assert (tmp_path / "share" / "icons" / "browser.png").stat().st_size > 0
    written = [path.read_text() for path in (tmp_path / "etc").iterdir()]
    assert not any("@FOLDER@" in text or "@DOWNLOADS@" in text for text in written)


def test_a_browser_without_its_sandbox_is_started_without_its_warning(tmp_path: Path) -> None:
    SessionFiles.read().write(tmp_path, {}, decide("/opt/browser", "auto", "no namespaces"))
    assert "--no-sandbox --test-type" in (tmp_path / "bin" / "browser").read_text()
    assert not (tmp_path / "Downloads").exists()


def test_applications_find_display_cookie_and_bus(tmp_path: Path) -> None:
    environment = session_environment(tmp_path, ":7", tmp_path / "Xauthority", {"LANG": "C"})
    assert environment == {
        "LANG": "C",
        "DISPLAY": ":7",
        "XAUTHORITY": str(tmp_path / "Xauthority"),
        "XDG_SESSION_TYPE": "x11",
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path}/run/bus/bus",
    }
