import pytest

from deskhand.tools.playbooks.errors import BadPlaybook
from deskhand.tools.playbooks.form.form import read_playbook
from deskhand.tools.playbooks.playbook import (
    Check,
    FileCheck,
    Parameter,
    Playbook,
    PlaybookStep,
    RegionCheck,
    Start,
    StepWait,
    Target,
)

ORDER = """\
name: new-order
version: 1
description: Orders a lamp
screen: {width: 1024, height: 768}
start: {url: "http://127.0.0.1/{customer}"}
parameters:
  customer: {default: Ada, description: Name of the customer}
  town: {}
secrets: [crm-password]
steps:
  - intent: Open the form of a new order
    action: click
    target: {role: button, name: New order, near: [Orders], source: page, point: [512, 230]}
    wait: {text: Customer, quiet_ms: 300, timeout_seconds: 10}
  - action: type
    target: {role: entry, name: Customer, near: Name}
    text: "{customer}"
    replace: false
  - {action: type_secret, secret: crm-password}
  - {action: key, keys: ctrl+s, wait: {changed_region: [1, 2, 3, 4], seconds: 0.5}}
  - {action: drag, target: {point: [1, 2]}, to: {patch: patches/2.png}, holding: shift}
  - {action: scroll, direction: up, amount: 3}
check:
  - text: Order saved
    timeout_seconds: 3
  - file: {path: order.csv, contains: 5}
  - file: {path: order.csv, sha256: "SHA"}
  - region: {box: [1, 2, 3, 4], hash: 0123456789abcdef}
""".replace("SHA", "A" * 64)

PLAYBOOK = Playbook(
    "new-order",
    (
        PlaybookStep(
            "click",
            "Open the form of a new order",
            Target("button", "New order", ("Orders",), "page", (512, 230)),
            wait=StepWait(text="Customer", quiet_ms=300, timeout_seconds=10),
        ),
        PlaybookStep(
            "type", "", Target("entry", "Customer", ("Name",)), text="{customer}", replace=False
        ),
        PlaybookStep("type_secret", secret="crm-password"),
        PlaybookStep("key", keys="ctrl+s", wait=StepWait(changed_region=(1, 2, 3, 4), seconds=0.5)),
        PlaybookStep(
            "drag", target=Target(point=(1, 2)), to=Target(patch="patches/2.png"), holding="shift"
        ),
        PlaybookStep("scroll", direction="up", amount=3),
    ),
    (
        Check("Order saved", timeout_seconds=3),
        Check(file=FileCheck("order.csv", "5")),
        Check(file=FileCheck("order.csv", sha256="a" * 64)),
        Check(region=RegionCheck((1, 2, 3, 4), "0123456789abcdef")),
    ),
    Start("http://127.0.0.1/{customer}"),
    {"customer": Parameter("Ada", "Name of the customer"), "town": Parameter()},
    ("crm-password",),
    (1024, 768),
    "Orders a lamp",
)

STEP = "name: a\nversion: 1\nparameters: {customer: {}}\nsecrets: [key]\nsteps:\n  - {%s}\n"
CHECK = "name: a\nversion: 1\nsteps:\n  - {action: key, keys: a}\ncheck:\n  - {%s}\n"


def test_every_key_is_read() -> None:
    assert read_playbook(ORDER) == PLAYBOOK


def test_keys_have_defaults() -> None:
    read = read_playbook("name: a\nversion: 1\nsteps:\n  - {action: wait, wait: {text: b}}\n")
    assert read == Playbook("a", (PlaybookStep("wait", wait=StepWait("b")),))


def test_text_of_a_number_is_as_written() -> None:
    assert read_playbook(STEP % "action: type, text: 0042").steps[0].text == "0042"
    assert read_playbook(STEP % 'action: type, text: ""').steps[0].text == ""


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "the playbook is empty"),
        ("- a", "line 1: the playbook must be a mapping with name, version"),
        ("name: a", "line 1: the playbook needs 'version'"),
        ("name: a\nversion: 2", "line 2: version 2 is unknown; there is 1"),
        ("name: A b\nversion: 1", "line 1: name must be of a-z, 0-9, - and _"),
        ("name: a\nversion: 1\nstep: []", "line 3: the playbook has no key 'step'; did you mean"),
        ("name: a\nversion: 1\nsteps: []", "line 3: steps must be 1 to 500 steps"),
        ("name: a\nversion: 1\nsteps: b", "line 3: steps must be a list"),
        ("name: a\nversion: 1\nparameters: 3\nsteps: []", "line 3: parameters must be a mapping"),
        (
            "name: a\nversion: 1\nparameters:\n  b: {}\n  b: {}\nsteps: []",
            "line 5: the parameter 'b' is there twice",
        ),
        (
            "name: a\nversion: 1\nparameters: {b: {defualt: 1}}\nsteps: []",
            "line 3: the parameter 'b' has no key 'defualt'; did you mean 'default'?",
        ),
        (
            "name: a\nversion: 1\nscreen: {width: 0, height: 1}\nsteps: [a]",
            "line 4: the step must be a mapping",
        ),
        (
            "name: a\nversion: 1\nscreen: {width: 0, height: 1}\nsteps: [{action: key, keys: a}]",
            "line 3: width must be from 1 to 20000",
        ),
        (
            "name: a\nversion: 1\nstart: {url: a, command: b}\nsteps: [{action: key, keys: a}]",
            "line 3: start needs one of url, command",
        ),
        (STEP % "intent: a", "line 6: the step needs 'action', one of click"),
        (STEP % "action: clik", "line 6: action 'clik' is unknown; did you mean 'click'?"),
        (STEP % "action: click", "line 6: a step 'click' needs 'target'"),
        (STEP % "action: click, text: a, target: {role: b}", "a step 'click' has no key 'text'"),
        (STEP % "action: click, target: {near: b}", "target needs role, name, patch or point"),
        (STEP % "action: click, target: {patch: ../b}", "patch must be a file in the folder"),
        (STEP % "action: click, target: {patch: /b}", "patch must be a file in the folder"),
        (STEP % "action: type_secret, secret: pin", "the secret 'pin' is not in the playbook's"),
        (STEP % "action: wait, wait: {}", "wait needs one of text, window"),
        (
            STEP % "action: wait, wait: {changed_region: [5, 1, 2, 3]}",
            "changed_region must have left < right and top < bottom",
        ),
        (STEP % 'action: type, text: "{costumer}"', "no parameter 'costumer'; did you mean"),
        (CHECK % "text: a, url: b", "line 6: a check needs exactly one of text, window, url"),
        (CHECK % "file: {path: a, sha256: b}", "sha256 must be 64 hexadecimal digits"),
        (CHECK % f"file: {{path: a, sha256: {'g' * 64}}}", "sha256 must be 64 hexadecimal digits"),
        (CHECK % "file: {contains: a}", "file needs 'path'"),
        (CHECK % "region: {hash: a}", "region needs 'box'"),
        (CHECK % "region: {box: [1, 2, 3, 4], hash: a}", "hash must be 16 hexadecimal digits"),
    ],
)
def test_errors_name_line_and_nearest_key(text: str, error: str) -> None:
    with pytest.raises(BadPlaybook) as raised:
        read_playbook(text)
    assert error in str(raised.value)


def test_too_many_steps_are_refused() -> None:
    steps = "  - {action: key, keys: a}\n" * 501
    with pytest.raises(BadPlaybook, match="line 4: steps must be 1 to 500"):
        read_playbook(f"name: a\nversion: 1\nsteps:\n{steps}")
