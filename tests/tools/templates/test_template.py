import json

import pytest

from deskhand.tools.launcher.requests import parse_request
from deskhand.tools.templates.errors import BadTemplate
from deskhand.tools.templates.template import DesktopTemplate, read_template

WHOLE = """
display_name: Office
description: A desktop with a word processor
size: 1280x720
applications: [terminal, browser]
files: {a/notes.txt: "Begin here."}
environment: {EDITOR: nano}
limits: {processes: 500, memory_mib: 2048}
profile: shop
"""


def test_a_template_is_read() -> None:
    template = read_template("office", WHOLE)
    assert template == DesktopTemplate(
        "office",
        "Office",
        "A desktop with a word processor",
        "1280x720",
        ("terminal", "browser"),
        {"a/notes.txt": "Begin here."},
        {"EDITOR": "nano"},
        {"processes": 500, "memory_mib": 2048},
        "shop",
    )
    assert template.options == (
        *("--size", "1280x720", "--desktop-processes", "500", "--desktop-memory", "2048"),
        *("--env", "EDITOR=nano"),
    )
    assert read_template("empty", "") == DesktopTemplate("empty")
    assert read_template("empty", "files:\nsize:\nlimits: {processes: }").options == ()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a: [", "a.yaml: line 1: is not YAML"),
        ("a: \x07", "a.yaml: is not YAML"),
        (
            "size: 100x100\nlimits: {processes: 5,\n  memory: 1}",
            "a.yaml: line 3: unknown key 'memory'",
        ),
        ("\nenvironment:\n  A: 1", "a.yaml: line 3: environment: A must be a text"),
        ("files:\n  ../a: b", "a.yaml: line 2: files"),
        ("size: 1x1\nsize: 1x2", "a.yaml: line 2: the key 'size' is in the template twice"),
        ("- a", "the template must be a mapping"),
        ("sise: 1x1", "unknown key 'sise' in the template; did you mean 'size'\\?"),
        ("12: 1", "unknown key '12'"),
        ("display_name: 3", "display_name must be a text; quote it"),
        ("description: " + "a" * 1001, "has more than 1000 characters"),
        ("size: 10x10", "size must be as 1280x720"),
        ("size: 1280*720", "size must be as 1280x720"),
        ("profile: ../a", "profile: '../a' must be of lower-case letters"),
        ("size: 9999x100", "size must be as 1280x720"),
        ("applications: browser", "applications must be a list"),
        ("applications: [3]", r"applications\[0\] must be a text"),
        ("files: {../a: b}", "must be a relative path"),
        ("files: {a: 3}", "the content of 'a' must be a text"),
        ("files: {'.': b}", "the content of '.' must be a text"),
        ("files: [a]", "files must be a mapping"),
        ("environment: {PATH: /x}", "'PATH' is no variable that may be set"),
        ("environment: {LD_PRELOAD: /x}", "is no variable"),
        ("environment: {1: x}", "must be a text, not a number"),
        ("environment: {A: 1}", "environment: A must be a text"),
        ("limits: {memory: 1}", "unknown key 'memory' in limits; did you mean 'memory_mib'\\?"),
        ("limits: {processes: 0}", "processes must be a whole number"),
        ("limits: {processes: true}", "processes must be a whole number"),
        ("a: &x [*x]", "unknown key"),
        ("!!python/object:os.system x", "must be a mapping"),
        ("display_name: !!python/object:os.system x", "a.yaml: line 1: cannot be read"),
    ],
)
def test_a_wrong_template_is_refused_with_its_key(content: str, reason: str) -> None:
    with pytest.raises(BadTemplate, match=reason):
        read_template("a", content)


def test_the_launcher_accepts_what_templates_have() -> None:
    options = list(read_template("office", WHOLE).options)
    egress = {"mode": "open", "allow": [], "grants": [], "required": False}
    fields = {"do": "start", "id": "ab12cd34", "egress": egress, "display": True, "speak": []}
    spec = parse_request(json.dumps({**fields, "options": options}).encode(), 4).spec
    assert spec is not None
    assert spec.options == tuple(options)
