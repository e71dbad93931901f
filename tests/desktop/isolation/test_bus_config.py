"""Configuration of message buses that admit all users."""

from pathlib import Path

from deskhand.desktop.isolation.bus_config import (
    SESSION_BUS,
    WIDGET_BUS,
    open_to_all,
    widget_bus_configs,
    write_bus_config,
)

CONFIG = "<busconfig>\n<type>session</type>\n</busconfig>\n"
OPEN = (
    "<busconfig>\n<type>session</type>\n"
    '<policy context="mandatory"><allow user="*"/></policy>\n</busconfig>\n'
)


def test_a_policy_is_added_at_the_end() -> None:
    assert open_to_all(CONFIG) == OPEN
    assert open_to_all("no configuration") == "no configuration"


def test_the_first_file_of_the_machine_counts(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    places = [tmp_path / name for name in ("missing", "local", "default")]
    places[1].write_text(CONFIG)
    places[2].write_text("")
    assert widget_bus_configs(places) == places[1:]
    write_bus_config(tmp_path, places[2], places)
    write_bus_config(tmp_path, places[1], places)
    for name in (SESSION_BUS, WIDGET_BUS):
        written = tmp_path / name
        assert (written.read_text(), written.stat().st_mode & 0o777) == (OPEN, 0o644)


def test_what_the_machine_does_not_have_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    write_bus_config(tmp_path, tmp_path / "missing", [])
    assert list((tmp_path / "run").iterdir()) == []
