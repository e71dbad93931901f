"""Rules that find the risk of a call before it is performed. Pure.

A rule is a row of `RISK_RULES`: its name, the tools or actions that it is about, and a function
that returns why the rule is met, or an empty text. `required_approvals` chooses from what they
find by the mode of the chat:

- ``auto``: nothing but the safety checks of the provider, which a person must always see.
- ``risky``: safety checks and what the rules find.
- ``every``: each call that is more than looking.

A person may answer ``always``, which covers the same rule in the same chat, but never a safety
check of the provider.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deskhand.tools.conversation.conversation import SafetyCheck, ToolCall
from deskhand.tools.conversation.restrictions import ApprovalMode
from deskhand.tools.kit.support.refused_tools import is_looking

from .commands import (
    DELETE,
    INSTALL,
    OUTSIDE,
    REASONS,
    command_hosts,
    command_risks,
    requested_inputs,
)
from .hosts import UNKNOWN, hosts_in, navigated_host, typed_hosts, within
from .places import NOT_KNOWN, Places

Json = dict[str, Any]

PROVIDER = "provider"
"""Beginning of the rules for safety checks of the provider."""


@dataclass(frozen=True)
class FocusFacts:
    """The window and the field that have the keyboard, as far as the desktop knows them."""

    known: bool = True
    """False if the desktop did not report them."""
    window: str = ""
    """Title of the window."""
    application: str = ""
    """Class of the window."""
    password: bool = False
    field: str = ""
    """Name, description and attributes of the field."""
    host: str = ""
    """Host of the page with the field; empty outside of web pages."""


@dataclass(frozen=True)
class FoundRisk:
    """One reason for which a call needs an approval."""

    rule: str
    reason: str


@dataclass(frozen=True)
class ProposedCall:
    """A call with the facts by which it is judged."""

    call: ToolCall
    focus: FocusFacts
    domains: tuple[str, ...] = ()
    """Domains of the task; empty if it has none."""
    places: Places = NOT_KNOWN
    """Directories of the machine, which decide about commands alone."""
    any_text: bool = False
    """True if the text that it types is not known."""

    @property
    def text(self) -> str:
        """Return all texts of the arguments."""
        return "\n".join(_texts(self.call.arguments))

    @property
    def command(self) -> str:
        """Return the command line of a call that runs or types one."""
        return str(self.call.arguments.get("command", self.text))


_TYPING = frozenset(("type", "key", "hold_key"))
_POINTING = frozenset(
    [f"{button}_click" for button in ("left", "right", "middle", "double", "triple")]
    + ["left_mouse_down", "left_mouse_up", "left_click_drag"]
)
_INPUT = _TYPING | _POINTING | {"scroll"}

_PAYMENT = re.compile(
    r"\b(card[\s_-]*(number|no\b|holder)|credit[\s_-]*card|debit[\s_-]*card|cc[\s_-]?(num|number|exp"
    r"|csc|name)|cvv2?|cvc2?|csc|security[\s_-]*code|iban|sort[\s_-]*code|routing[\s_-]*number"
    r"|account[\s_-]*number|kartennummer|pr[üu]fnummer|sepa)",
    re.IGNORECASE,
)
_KEYS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("an API key", re.compile(r"\b(sk|pk|rk)[-_](?:[a-z]+[-_])*[A-Za-z0-9_-]{16,}")),
    ("a token of GitHub", re.compile(r"\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})")),
    ("a token of GitLab", re.compile(r"\bglpat-[\w-]{16,}")),
    ("a key of AWS", re.compile(r"\b(AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("a key of Google", re.compile(r"\bAIza[\w-]{30,}")),
    ("a token of Slack", re.compile(r"\bxox[abeprs]-[\w-]{10,}")),
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("a JSON Web Token", re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")),
)
_UPLOAD_WINDOW = re.compile(
    r"^(open files?|file upload|upload\b.*|select (a |one or more )?files?.*|choose files?.*"
    r"|dateien? (öffnen|hochladen))$",
    re.IGNORECASE,
)
_BROWSERS = re.compile(r"chrom|firefox|browser|brave|edge|vivaldi|opera", re.IGNORECASE)
_TERMINALS = re.compile(r"term|konsole|kitty|alacritty|rxvt", re.IGNORECASE)
_ENTER = re.compile(r"\b(return|kp_enter|enter)\b", re.IGNORECASE)


def _password_field(proposed: ProposedCall) -> str:
    if not proposed.focus.known:
        return "it is not known which field has the keyboard"
    return "a password field has the keyboard" if proposed.focus.password else ""


def _payment_field(proposed: ProposedCall) -> str:
    return "a payment field has the keyboard" if _PAYMENT.search(proposed.focus.field) else ""


def _upload(proposed: ProposedCall) -> str:
    call, focus = proposed.call, proposed.focus
    if not _UPLOAD_WINDOW.match(focus.window):
        return ""
    chooses = call.name in _POINTING or "\n" in proposed.text
    if not chooses and not (call.name == "key" and _ENTER.search(proposed.text)):
        return ""
    return f"it may choose a file to upload ({focus.window})"


def _page_upload(_: ProposedCall) -> str:
    return "it gives files to a page"


def _script(_: ProposedCall) -> str:
    return "it runs a script with the rights of the page"


def _domain(proposed: ProposedCall) -> str:
    if not proposed.domains:
        return ""
    for host in _hosts(proposed):
        if not within(host, proposed.domains):
            return f"{host} is not among the domains of the task"
    return ""


def _hosts(proposed: ProposedCall) -> tuple[str, ...]:
    call, focus, text = proposed.call, proposed.focus, proposed.text
    if call.toolset is None:
        return command_hosts(proposed.command)
    if call.name == "navigate":
        return tuple(filter(None, (focus.host, navigated_host(text), *hosts_in(text))))
    if focus.host:
        return (focus.host, *hosts_in(text))
    # Outside of a page a browser's text is mostly an address.
    if call.name == "type" and _BROWSERS.search(focus.application):
        return (UNKNOWN,) if proposed.any_text else (*typed_hosts(text), *hosts_in(text))
    return hosts_in(text)


def _key(proposed: ProposedCall) -> str:
    for name, pattern in _KEYS:
        if pattern.search(proposed.text):
            return f"its text looks like {name}"
    return ""


def _profile(proposed: ProposedCall) -> str:
    name = proposed.call.arguments.get("profile")
    return f"its browser has the sign-ins of the profile {name}" if name else ""


def _command(rule: str) -> Callable[[ProposedCall], str]:
    def find(proposed: ProposedCall) -> str:
        call = proposed.call
        # A text that is typed into a terminal is a command.
        if call.toolset is not None and not _TERMINALS.search(proposed.focus.application):
            return ""
        requested = call.arguments.get("workdir") if call.toolset is None else None
        program = command_risks(proposed.command, proposed.places, requested).get(rule)
        return f"{REASONS[rule]} ({program})" if program else ""

    return find


_COMMANDS = frozenset(("execute", "type"))
_WRITING = frozenset(("execute", "type", "write_file", "edit_files", "call_mcp_tool", "form_input"))
RISK_RULES: tuple[tuple[str, frozenset[str], Callable[[ProposedCall], str]], ...] = (
    ("password_field", _TYPING, _password_field),
    ("payment_field", _TYPING, _payment_field),
    ("upload", _INPUT, _upload),
    ("upload", frozenset({"file_upload"}), _page_upload),
    ("script", frozenset({"javascript_exec"}), _script),
    *((rule, _COMMANDS, _command(rule)) for rule in REASONS),
    ("domain", _INPUT | {"execute", "navigate"}, _domain),
    ("key", _WRITING, _key),
    ("profile", frozenset(("spawn_agent", "spawn_computer_use_agent")), _profile),
)
"""Rule, the tools and actions that it is about, and the function that returns its reason."""


def needs_places(risks: Sequence[FoundRisk]) -> bool:
    """Return whether directories of the machine may decide that a call needs no approval."""
    return any(risk.rule in (DELETE, INSTALL, OUTSIDE) for risk in risks)


def needs_focus(call: ToolCall) -> bool:
    """Return whether a call is judged by what has the keyboard."""
    proposed = ProposedCall(call, FocusFacts())
    if call.toolset is not None:
        return call.name in _INPUT
    return any(inner.call.name in _INPUT for inner in _requested(proposed))


def found_risks(proposed: ProposedCall) -> tuple[FoundRisk, ...]:
    """Return what the rules find, each rule once."""
    found: dict[str, FoundRisk] = {}
    for judged in (proposed, *_requested(proposed)):
        for rule, names, find in RISK_RULES:
            reason = find(judged) if judged.call.name in names else ""
            if reason:
                found.setdefault(rule, FoundRisk(rule, reason))
    return tuple(found.values())


def _requested(proposed: ProposedCall) -> list[ProposedCall]:
    """Return the input that a command requests, as calls."""
    call = proposed.call
    if call.toolset is not None or call.name != "execute":
        return []
    found = []
    for one in requested_inputs(proposed.command):
        action = one.action or {"action": "type", "text": one.written}
        inner = ToolCall(call.id, action["action"], action, "computer")
        found.append(replace(proposed, call=inner, any_text=one.action is None))
    return found


def required_approvals(
    mode: ApprovalMode, proposed: ProposedCall, always: Collection[str] = ()
) -> tuple[FoundRisk, ...]:
    """Return the reasons for which a person must approve a call; none if it may be performed.

    ``always`` are the rules that a person has approved for all calls of the chat.
    """
    call = proposed.call
    checks = tuple(map(_of_check, call.checks))
    if mode == "auto":
        return checks
    own = found_risks(proposed)
    if mode == "every" and not own and not is_looking(call.name, call.toolset):
        rule = f"every:{call.toolset or 'tool'}.{call.name}"
        own = (FoundRisk(rule, "every action of this chat needs an approval"),)
    return (*checks, *(risk for risk in own if risk.rule not in always))


def shown_arguments(arguments: Json, risks: Sequence[FoundRisk]) -> Json:
    """Return the arguments of a call for a person, without texts that must stay secret."""
    rules = {risk.rule for risk in risks}
    if rules & {"password_field", "payment_field"}:
        if isinstance(arguments.get("command"), str):
            return {**arguments, "command": _without_typed(arguments["command"])}
        if isinstance(arguments.get("text"), str):
            return {**arguments, "text": _length(arguments["text"])}
    if "key" in rules:
        shown: Json = _without_keys(arguments)
        return shown
    return arguments


def focus_facts(response: Any) -> FocusFacts:
    """Return the facts of a response of the desktop."""
    if not isinstance(response, dict) or "field" not in response:
        return FocusFacts(known=False)
    window, field = response.get("window") or {}, response.get("field") or {}
    return FocusFacts(
        window=str(window.get("title") or ""),
        application=str(window.get("class") or ""),
        password=bool(field.get("password")),
        field=" ".join(str(field.get(name) or "") for name in ("name", "description", "hints")),
        host=str(field.get("host") or "").removeprefix("http://"),
    )


def _of_check(check: SafetyCheck) -> FoundRisk:
    reason = check.message or check.code or "it gave no reason"
    return FoundRisk(f"{PROVIDER}:{check.code}", f"the provider of the model asks: {reason}")


def _without_typed(command: str) -> str:
    """Return a command without the texts that it requests to type."""
    for one in requested_inputs(command):
        text = None if one.action is None else one.action.get("text")
        if isinstance(text, str):
            shown = json.dumps({**(one.action or {}), "text": _length(text)})
            # Quotes of the shell may divide a request.
            kept = one.written in command
            command = command.replace(one.written, shown) if kept else _length(command)
    return command


def _length(text: str) -> str:
    return f"{len(text)} characters"


def _without_keys(value: Any) -> Any:
    match value:
        case str():
            for name, pattern in _KEYS:
                value = pattern.sub(f"[{name}]", value)
            return value
        case dict():
            return {name: _without_keys(inner) for name, inner in value.items()}
        case list():
            return [_without_keys(inner) for inner in value]
    return value


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for inner in value.values() for text in _texts(inner)]
        case list():
            return [text for inner in value for text in _texts(inner)]
    return []
