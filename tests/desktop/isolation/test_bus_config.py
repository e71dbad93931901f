"""Configuration of message buses of the service's user."""

from pathlib import Path
from xml.etree.ElementTree import fromstring

from deskhand.desktop.isolation.bus_config import (
    SESSION_BUS,
    WIDGET_BUS,
    BusUsers,
    bus_config,
    widget_bus_configs,
    write_bus_config,
)

OWNER, AGENT = "2000000004", "2000000003"


def test_a_bus_activates_its_own_services_and_admits_no_listeners() -> None:
    config = fromstring(bus_config("session", Path("/d/a&b"), OWNER, ["org.one"]))
    assert [one.text for one in config.findall("servicedir")] == ["/d/a&b"]
    assert config.find("standard_session_servicedirs") is None
    assert config.find("include") is config.find("includedir") is None
    everybody, owner = config.findall("policy")
    assert {"own": "org.one"} in [one.attrib for one in everybody.findall("deny")]
    assert (owner.get("user"), [one.attrib for one in owner]) == (OWNER, [{"own": "org.one"}])
    denied = {one.get("send_member") for one in everybody.findall("deny")}
    assert {"BecomeMonitor", "UpdateActivationEnvironment", "RegisterKeystrokeListener"} <= denied
    assert not any("eavesdrop" in one.attrib for one in everybody)


def test_a_bus_with_a_caller_carries_signals_and_calls_of_its_owner_only() -> None:
    config = fromstring(bus_config("accessibility", Path("/d"), OWNER, ["org.one"], AGENT))
    everybody, owner, agent = config.findall("policy")
    rules = [one.attrib for one in everybody if "receive_type" in one.attrib]
    for type_ in ("method_call", "signal"):
        # The last rule that matches counts.
        last = [one for one in rules if one["receive_type"] == type_][-3:]
        assert "receive_sender" not in last[0]
        assert all("receive_sender" in one for one in last[1:])
    assert {"receive_type": "signal"} in [one.attrib for one in owner]
    assert (agent.get("user"), [one.attrib for one in agent]) == (
        AGENT,
        [{"receive_type": "method_call"}],
    )


def test_of_the_machines_files_those_that_exist_are_replaced(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("missing", "local", "default")]
    for place in places[1:]:
        place.touch()
    assert widget_bus_configs(places) == places[1:]


def test_both_configurations_are_written_anew_and_readable(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    for _ in range(2):
        write_bus_config(
            tmp_path, BusUsers(OWNER, AGENT), Path("share/session"), Path("share/widgets")
        )
    types = []
    for name in (SESSION_BUS, WIDGET_BUS):
        written = tmp_path / name
        assert written.stat().st_mode & 0o777 == 0o644
        config = fromstring(written.read_text())
        types.append(config.findtext("type"))
        assert str(config.findtext("servicedir")).startswith(f"{tmp_path}/share/")
    assert types == ["session", "accessibility"]
