import json
from typing import Any

import pytest

from deskhand.desktop.launch_port.launch_port import LaunchSpec
from deskhand.desktop.network.egress import Egress, parse_egress
from deskhand.tools.launcher.requests import (
    LONGEST_REQUEST,
    LauncherRequest,
    RequestRefused,
    parse_request,
)

ID = "0123abcd"
RECORDING = "a1111111-2222-3333-4444-555555555555"
OPEN: dict[str, Any] = {"mode": "open", "allow": [], "grants": [], "required": True}
START: dict[str, Any] = {
    **{"do": "start", "id": ID, "egress": OPEN, "display": True, "speak": [], "options": []}
}


def parsed(fields: object, descriptors: int = 0) -> LauncherRequest:
    return parse_request(json.dumps(fields).encode(), descriptors)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"do": "list"}, LauncherRequest("list")),
        ({"do": "stop", "id": ID}, LauncherRequest("stop", ID)),
        ({"do": "kill", "id": ID}, LauncherRequest("kill", ID)),
        (
            {"do": "open", "id": ID, "recording": RECORDING, "file": "1.journal"},
            LauncherRequest("open", ID, RECORDING, "1.journal"),
        ),
        ({"do": "remove", "id": ID}, LauncherRequest("remove", ID)),
        (
            {"do": "remove", "id": ID, "recording": RECORDING},
            LauncherRequest("remove", ID, RECORDING),
        ),
        ({"do": "remove", "workdir": "a-chat"}, LauncherRequest("remove", workdir="a-chat")),
        ({"do": "remove", "profile": "work"}, LauncherRequest("remove", profile="work")),
        ({"do": "profiles"}, LauncherRequest("profiles")),
    ],
)
def test_each_command_has_its_fields(fields: object, expected: LauncherRequest) -> None:
    assert parsed(fields) == expected


def test_a_start_becomes_the_values_of_the_launch_port() -> None:
    assert parsed(START, 4).spec == LaunchSpec(ID, Egress())
    listed = parse_egress("list", ["*.example.org"], ["127.0.0.1:80"], required=False)
    fields = {**START, "egress": listed.to_json(), "display": False, "workdir": RECORDING}
    request = parsed(fields, 4)
    assert request.spec == LaunchSpec(ID, listed, has_display=False, workdir=RECORDING)
    assert request == LauncherRequest("start", ID, workdir=RECORDING, spec=request.spec)
    spoken = parsed({**START, "speak": ["cdp", "osworld:lan"]}, 4).spec
    assert spoken == LaunchSpec(ID, Egress(), speak=("cdp", "osworld:lan"))
    kept = parsed({**START, "profile": "work"}, 4).spec
    assert kept == LaunchSpec(ID, Egress(), profile="work")


@pytest.mark.parametrize("name", ["", "../work", "a/b", ".", "Work", 3, None])
def test_a_wrong_name_of_a_profile_is_refused(name: object) -> None:
    with pytest.raises(RequestRefused, match="the value of profile is wrong"):
        parsed({**START, "profile": name}, 4)


@pytest.mark.parametrize(
    "value", [[["cdp"]], "osworld,cdp", None, 7, {"x": 1}, ["--glx"], ["a b"], ["cdp"] * 9]
)
def test_a_start_names_dialects_only(value: object) -> None:
    with pytest.raises(RequestRefused):
        parsed({**START, "speak": value}, 4)


WRONG_TEXTS: list[object] = [
    *("", "..", "../x", "/etc", "0123ABCD", "0123abc", "0123abcde", "0123abcd\n", "0123abc\0"),
    *(" 0123abcd", "0123abcd/..", "١٢٣٤٥٦٧٨", 1, 1.5, None, True, [], {}, [ID]),
]


@pytest.mark.parametrize("value", WRONG_TEXTS)
@pytest.mark.parametrize("command", ["stop", "kill", "remove"])
def test_a_wrong_id_is_refused(command: str, value: object) -> None:
    with pytest.raises(RequestRefused, match="the value of id is wrong"):
        parsed({"do": command, "id": value})


@pytest.mark.parametrize(
    "changed",
    [
        {"recording": ".."},
        {"recording": f"{RECORDING}/.."},
        {"recording": RECORDING.upper()},
        {"recording": f"{RECORDING}\n"},
        {"file": "../1.mp4"},
        {"file": "0.mp4"},
        {"file": "1.mp4\0"},
        {"file": "1.mp4/../../x"},
        {"file": ".mp4"},
        {"file": "1.token"},
        {"file": 1},
        {"file": "1" * 10 + ".mp4"},
    ],
)
def test_a_wrong_name_of_a_file_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(RequestRefused, match="is wrong"):
        parsed({"do": "open", "id": ID, "recording": RECORDING, "file": "1.mp4", **changed})


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "/x", "a/b", "-rf", "a\0", "a" * 101, 1])
def test_a_wrong_name_of_a_workdir_is_refused(name: object) -> None:
    with pytest.raises(RequestRefused, match="the value of workdir is wrong"):
        parsed({"do": "remove", "workdir": name})
    with pytest.raises(RequestRefused, match="the value of workdir is wrong"):
        parsed({**START, "workdir": name}, 4)


@pytest.mark.parametrize(
    "egress",
    [
        *(None, [], "open", {}),
        {"mode": "open"},
        {**OPEN, "more": 1},
        {**OPEN, "mode": "all"},
        {**OPEN, "mode": 1},
        {**OPEN, "required": 1},
        {**OPEN, "allow": "a.b"},
        {**OPEN, "mode": "list", "allow": [1]},
        {**OPEN, "mode": "list", "allow": ["--egress-grant"]},
        {**OPEN, "mode": "list", "allow": ["a b"]},
        {**OPEN, "grants": [None]},
        {**OPEN, "grants": ["evil:1"]},
        {**OPEN, "grants": ["127.0.0.1:" + "9" * 5000]},
    ],
)
def test_a_wrong_egress_is_refused(egress: object) -> None:
    with pytest.raises(RequestRefused):
        parsed({**START, "egress": egress}, 4)


@pytest.mark.parametrize("display", [0, 1, None, "true"])
def test_a_display_that_is_no_truth_value_is_refused(display: object) -> None:
    with pytest.raises(RequestRefused, match="the value of display or of options is wrong"):
        parsed({**START, "display": display}, 4)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "there is no such command"),
        ({"do": "exec", "id": ID}, "there is no such command"),
        ({"do": ["list"]}, "there is no such command"),
        ({"do": None}, "there is no such command"),
        ({"do": "list", "id": ID}, "its fields are wrong"),
        ({"do": "stop"}, "its fields are wrong"),
        ({"do": "stop", "id": ID, "number": 9}, "its fields are wrong"),
        ({"do": "open", "id": ID, "recording": RECORDING}, "its fields are wrong"),
        ({"do": "remove", "id": ID, "workdir": "x"}, "its fields are wrong"),
        ({"do": "remove", "recording": RECORDING}, "its fields are wrong"),
        ({**START, "argv": ["/bin/sh"]}, "its fields are wrong"),
        ({**START, "environment": {}}, "its fields are wrong"),
        ([], "no object"),
        ("list", "no object"),
        (None, "no object"),
    ],
)
def test_other_requests_are_refused(fields: object, reason: str) -> None:
    with pytest.raises(RequestRefused, match=reason):
        parsed(fields)


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b'{"do": "li', b"\xff\xfe", b"[" * 30_000, b"9" * 5000),
        json.dumps(START).encode()[:-1],
    ],
)
def test_what_is_no_whole_message_is_refused(data: bytes) -> None:
    with pytest.raises(RequestRefused, match="no JSON"):
        parse_request(data, 0)


def test_a_long_request_is_refused_unread() -> None:
    longest = json.dumps({"do": "list"}).encode().ljust(LONGEST_REQUEST)
    assert parse_request(longest, 0).command == "list"
    with pytest.raises(RequestRefused, match="too long"):
        parse_request(longest + b" ", 0)


@pytest.mark.parametrize(("fields", "number"), [(START, 0), (START, 3), (START, 5)])
def test_a_start_needs_its_descriptors(fields: object, number: int) -> None:
    with pytest.raises(RequestRefused, match="descriptors"):
        parsed(fields, number)


def test_only_a_start_has_descriptors() -> None:
    with pytest.raises(RequestRefused, match="descriptors"):
        parsed({"do": "list"}, 1)


def test_other_options_than_those_of_templates_are_refused() -> None:
    with pytest.raises(RequestRefused, match="of options is wrong"):
        parsed({**START, "options": ["--user", "root"]}, 4)


def test_options_of_a_template_are_passed_on() -> None:
    options = ["--size", "1280x720", "--env", "A=b c", "--desktop-tmp", "64"]
    found = parsed({**START, "options": options, "workdir": RECORDING}, 4).spec
    assert found is not None
    assert (found.options, found.workdir) == (tuple(options), RECORDING)
