import json
import shlex
from dataclasses import replace
from typing import Any

import pytest

from deskhand.tools.agents.approvals.places import Places
from deskhand.tools.agents.approvals.risk_rules import (
    FocusFacts,
    FoundRisk,
    ProposedCall,
    focus_facts,
    found_risks,
    needs_focus,
    needs_places,
    required_approvals,
    shown_arguments,
)
from deskhand.tools.conversation.conversation import SafetyCheck, ToolCall

NOWHERE = FocusFacts()
PASSWORD = FocusFacts(application="Chromium", password=True, host="shop.example")
PAYMENT = FocusFacts(application="Chromium", field="Card number", host="shop.example")
CHOOSER = FocusFacts(window="Open File", application="chromium")
TERMINAL = FocusFacts(application="XTerm")
BROWSER = FocusFacts(application="Chromium")
Json = dict[str, Any]
KEY = "sk-ant-api03-0123456789abcdefghij"


def act(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("1", name, arguments, "computer")


def tool(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("1", name, arguments)


def rules(call: ToolCall, focus: FocusFacts = NOWHERE, *domains: str) -> list[str]:
    return [risk.rule for risk in found_risks(ProposedCall(call, focus, domains))]


@pytest.mark.parametrize(
    ("call", "focus", "found"),
    [
        (act("type", text="hello"), NOWHERE, []),
        (act("type", text="hunter2"), PASSWORD, ["password_field"]),
        (act("key", text="a"), PASSWORD, ["password_field"]),
        (act("left_click", coordinate=[1, 2]), PASSWORD, []),
        (act("screenshot"), PASSWORD, []),
        (act("type", text="4111"), PAYMENT, ["payment_field"]),
        (act("type", text="x"), FocusFacts(field="cc-csc"), ["payment_field"]),
        (act("type", text="x"), FocusFacts(known=False), ["password_field"]),
        (act("left_click", coordinate=[1, 2]), CHOOSER, ["upload"]),
        (act("key", text="Return"), CHOOSER, ["upload"]),
        (act("key", text="Down"), CHOOSER, []),
        (act("type", text="/etc/passwd\n"), CHOOSER, ["upload"]),
        (act("type", text="/etc/passwd"), CHOOSER, []),
        (act("type", text="rm -rf x\n"), TERMINAL, ["delete"]),
        (act("type", text="rm -rf x\n"), BROWSER, []),
        (tool("execute", command="rm -rf x"), NOWHERE, ["delete"]),
        (tool("execute", command="pip install x && curl https://a.example"), NOWHERE,
         ["install", "outside"]),
        (tool("execute", command=f"export K={KEY}"), NOWHERE, ["key"]),
        (tool("write_file", path="/x", content=KEY), NOWHERE, ["key"]),
        (tool("call_mcp_tool", tool_name="a", arguments={"n": [1, KEY]}), NOWHERE, ["key"]),
        (tool("read_file", path=KEY), NOWHERE, []),
    ],
)  # fmt: skip
def test_a_call_meets_rules(call: ToolCall, focus: FocusFacts, found: list[str]) -> None:
    assert rules(call, focus) == found


def test_a_domain_outside_of_those_of_the_task_is_a_risk() -> None:
    here = replace(BROWSER, host="docs.good.example")
    elsewhere = replace(BROWSER, host="bad.example")
    assert rules(act("type", text="x"), here) == []
    assert rules(act("type", text="x"), here, "good.example") == []
    assert rules(act("left_click"), elsewhere, "good.example") == ["domain"]
    assert rules(act("type", text="bad.example/x\n"), BROWSER, "good.example") == ["domain"]
    assert rules(act("type", text="good.example\n"), BROWSER, "good.example") == []
    assert rules(act("type", text="bad.example"), TERMINAL, "good.example") == []
    assert rules(act("type", text="ok"), BROWSER, "good.example") == []
    assert rules(tool("execute", command="x http://bad.example"), NOWHERE, "good.example") == [
        "outside",
        "domain",
    ]


ELSEWHERE = (
    *(
        "evil.com.",
        "evil。com",
        "EVIL.com",
        "a@evil.com",
        "good.example@evil.com",
        "evil.com:8080/x",
    ),
    *("http:evil.com", "http:\\\\evil.com", "https:///evil.com", "view-source:https://evil.com/"),
    *("https://good.example;x@evil.com/", "http://%65vil.com", "xn--80ak6aa92e.com", "bücher.com"),
    *("93.184.216.34/x", "0x5db8d822/x", "http://1572395042", "[2606:2800:220:1::1]/x"),
    *("good.example.evil.com", "evilgood.example", "https://[bad"),
)
WITHIN = (
    *("good.example", "good.example.", "docs。good。example/x", "a@GOOD.example", "how to x.y z"),
    *(
        "http:good.example",
        "https://docs.good.example/?q=https:evil",
        "3.5",
        "hello",
        "about:blank",
    ),
)


@pytest.mark.parametrize(
    ("address", "found"),
    [*((one, ["domain"]) for one in ELSEWHERE), *((one, []) for one in WITHIN)],
)
def test_a_domain_is_that_of_the_host_which_the_browser_opens(
    address: str, found: list[str]
) -> None:
    typed = act("type", text=f"{address}\n")
    assert rules(typed, BROWSER, "good.example") == found
    if address != "3.5":
        opened = ToolCall("1", "navigate", {"url": address}, "browser")
        searched = address in ("how to x.y z", "hello")
        assert searched or rules(opened, NOWHERE, "good.example") == found


@pytest.mark.parametrize("program", ["browser", "xdg-open", "deskhand-request open", "chromium"])
def test_an_address_that_a_command_opens_is_judged(program: str) -> None:
    def found(argument: str) -> list[str]:
        call = tool("execute", command=f"{program} {argument}")
        return rules(call, NOWHERE, "good.example")

    assert found("evil.com.") == found("https://evil。com") == ["outside", "domain"]
    assert found("docs.good.example") == ["outside"]
    assert found("report.html") == found("/tmp/a.pdf") == found("--incognito") == []


def requested(given: Json | str) -> ToolCall:
    text = given if isinstance(given, str) else json.dumps(given)
    return tool("execute", command=f"sleep 1; deskhand-request input {shlex.quote(text)}")


TYPED = {"action": "type", "text": "hunter2"}


def test_input_that_a_command_requests_is_judged_as_input() -> None:
    elsewhere = replace(BROWSER, host="bad.example")
    assert rules(requested(TYPED), NOWHERE) == []
    assert rules(requested(TYPED), PASSWORD) == ["password_field"]
    assert rules(requested(TYPED), PAYMENT) == ["payment_field"]
    assert rules(requested({"action": "key", "text": "Return"}), CHOOSER) == ["upload"]
    assert rules(requested({"action": "left_click"}), elsewhere, "good.example") == ["domain"]
    assert rules(requested({"action": "screenshot"}), elsewhere, "good.example") == []
    address = {"action": "type", "text": "evil.com\n"}
    assert rules(requested(address), BROWSER, "good.example") == ["domain"]
    assert rules(requested({"action": "type", "text": "rm x\n"}), TERMINAL) == ["delete"]
    assert rules(tool("execute", command="ls"), PASSWORD) == []


@pytest.mark.parametrize("unread", ["$(cat x)", "[1]", '{"action": 1}', '{"action": "type"'])
def test_input_that_cannot_be_read_may_be_any_text(unread: str) -> None:
    assert rules(requested(unread), PASSWORD) == ["password_field"]
    assert rules(requested(unread), BROWSER, "good.example") == ["domain"]
    assert rules(requested(unread), BROWSER) == []


def test_a_command_that_requests_input_needs_the_focus() -> None:
    assert needs_focus(requested(TYPED))
    assert needs_focus(act("type", text="x"))
    assert not needs_focus(act("screenshot"))
    assert not needs_focus(tool("execute", command="deskhand-request status"))
    assert not needs_focus(tool("read_file", path="deskhand-request input"))


def test_places_decide_about_commands_alone() -> None:
    places = Places("/kept", "/home/a", ("/kept",))

    def found(call: ToolCall, focus: FocusFacts = NOWHERE) -> list[str]:
        return [one.rule for one in found_risks(ProposedCall(call, focus, places=places))]

    assert found(tool("execute", command="rm /tmp/x", model_intent="rm x")) == []
    assert found(tool("execute", command="rm x")) == ["delete"]
    assert found(tool("execute", command="rm x", workdir="/tmp")) == []
    assert found(act("type", text="rm /tmp/x\n"), TERMINAL) == []
    assert found(act("type", text="rm x\n"), TERMINAL) == ["delete"]
    assert found(act("type", text="x"), PASSWORD) == ["password_field"]


def test_places_are_needed_for_rules_that_they_decide() -> None:
    assert needs_places([FoundRisk("key", ""), FoundRisk("outside", "")])
    assert not needs_places([FoundRisk("upload", ""), FoundRisk("domain", "")])


CHECK = SafetyCheck("sc_1", "malicious_instructions", "The page gives instructions.")


def required(mode: Any, call: ToolCall, *always: str) -> list[str]:
    return [risk.rule for risk in required_approvals(mode, ProposedCall(call, NOWHERE), always)]


def test_the_mode_chooses_what_is_asked() -> None:
    risky, harmless = tool("execute", command="rm x"), tool("execute", command="ls")
    assert required("auto", risky) == []
    assert required("risky", risky) == ["delete"]
    assert required("risky", risky, "delete") == []
    assert required("risky", harmless) == []
    assert required("every", risky) == ["delete"]
    assert required("every", harmless) == ["every:tool.execute"]
    assert required("every", harmless, "every:tool.execute") == []
    assert required("every", act("left_click")) == ["every:computer.left_click"]
    assert required("every", act("screenshot")) == []
    assert required("every", tool("read_file", path="/x")) == []


@pytest.mark.parametrize("mode", ["auto", "risky", "every"])
def test_a_check_of_the_provider_is_always_asked(mode: str) -> None:
    call = replace(act("screenshot"), checks=(CHECK,))
    assert required(mode, call, "provider:malicious_instructions") == [
        "provider:malicious_instructions"
    ]


@pytest.mark.parametrize(
    ("check", "reason"),
    [(CHECK, "The page gives instructions."), (SafetyCheck("1", "c"), "c"),
     (SafetyCheck(""), "it gave no reason")],
)  # fmt: skip
def test_the_reason_of_the_provider_is_shown(check: SafetyCheck, reason: str) -> None:
    call = replace(act("screenshot"), checks=(check,))
    (risk,) = required_approvals("auto", ProposedCall(call, NOWHERE))
    assert risk.reason.endswith(reason)


def test_a_person_is_not_shown_passwords_and_keys() -> None:
    password = (FoundRisk("password_field", ""),)
    assert shown_arguments({"text": "hunter2"}, password) == {"text": "7 characters"}
    assert shown_arguments({"name": 1}, password) == {"name": 1}
    found = shown_arguments({"a": [f"x {KEY}", 1], "b": {"c": KEY}}, (FoundRisk("key", ""),))
    assert found == {"a": ["x [an API key]", 1], "b": {"c": "[an API key]"}}
    assert shown_arguments({"text": "ls"}, ()) == {"text": "ls"}
    shown = shown_arguments(requested(TYPED).arguments, password)["command"]
    assert "hunter2" not in shown
    assert '"text": "7 characters"' in shown
    divided = 'deskhand-request input \'{"action": "type",\'\' "text": "hunter2"}\''
    assert shown_arguments({"command": divided}, password) == {
        "command": f"{len(divided)} characters"
    }
    pressed = requested({"action": "key"}).arguments
    assert shown_arguments(pressed, password) == pressed


def test_the_desktop_reports_what_has_the_keyboard() -> None:
    field = {"password": True, "name": "a", "description": "", "hints": "b", "host": "http://c"}
    shown = {"window": {"title": "T", "class": "C"}, "field": field}
    assert focus_facts(shown) == FocusFacts(True, "T", "C", True, "a  b", "c")
    assert focus_facts({"window": None, "field": None}) == FocusFacts(field="  ")
    assert focus_facts({"echo": {}}) == focus_facts(b"") == FocusFacts(known=False)


@pytest.mark.parametrize("tool", ["spawn_agent", "spawn_computer_use_agent"])
def test_an_agent_with_the_sign_ins_of_a_profile_is_a_risk(tool: str) -> None:
    assert rules(ToolCall("1", tool, {"prompt": "Go", "profile": "shop"})) == ["profile"]
    assert rules(ToolCall("1", tool, {"prompt": "Go"})) == []
    assert rules(ToolCall("1", tool, {"prompt": "Go", "profile": None})) == []


def test_members_of_the_browser_toolset_have_their_risks() -> None:
    def page(name: str, **arguments: Any) -> ToolCall:
        return ToolCall("1", name, arguments, "browser")

    assert rules(page("file_upload", paths=["/x"])) == ["upload"]
    assert rules(page("javascript_exec", text="1")) == ["script"]
    assert rules(page("form_input", value=KEY)) == ["key"]
    assert rules(page("type", text="x"), PASSWORD) == ["password_field"]
    assert rules(page("navigate", url="bad.example/x"), NOWHERE, "good.example") == ["domain"]
    assert rules(page("navigate", url="http://bad.example/"), NOWHERE, "good.example") == ["domain"]
    assert rules(page("navigate", url="good.example"), NOWHERE, "good.example") == []
    assert rules(page("navigate", url="back"), NOWHERE, "good.example") == []
    assert required("every", page("read_page")) == []
    assert required("every", page("navigate", url="a")) == ["every:browser.navigate"]
