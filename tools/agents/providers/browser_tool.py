"""Calls of the browser toolset for models that have none, where it is one function. Pure.

In our conversation a call is a member of the toolset ``browser``. Anthropic's newer models are
offered the toolset itself; for all others a call is that of the function ``browser``, whose
``action`` is the member.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult

Json = dict[str, Any]

BROWSER = "browser"
ACTION = "action"
TOOLSET = "browser_toolset_20260801"
COMPUTER_TOOLSET = "computer_toolset_20260801"
"""The computer tool of the models that have the browser toolset, too."""
ENABLED = ("file_upload", "javascript_exec")
"""Members that are off unless a request enables them."""


def entry() -> Json:
    """Return the entry of the toolset in a request."""
    return {"type": TOOLSET, "configs": {name: {"enabled": True} for name in ENABLED}}


def has_toolset(computer: str) -> bool:
    """Return whether a model has the toolset, by its computer tool."""
    return computer == COMPUTER_TOOLSET


def as_member(call: ToolCall) -> ToolCall:
    """Return a call of the function as one of the toolset; others as they are."""
    action = call.arguments.get(ACTION)
    if call.name != BROWSER or call.toolset is not None or not isinstance(action, str):
        return call
    # Models send null for the fields that an action does not have.
    own = {k: v for k, v in call.arguments.items() if k != ACTION and v is not None}
    return replace(call, name=action, arguments=own, toolset=BROWSER)


def as_function(call: ToolCall) -> ToolCall:
    """Return a call of the toolset as one of the function; others as they are.

    An argument of the name ``action``, which no member has, stays one that is refused.
    """
    if call.toolset != BROWSER:
        return call
    arguments = {ACTION: call.name, **call.arguments}
    if ACTION in call.arguments:
        arguments |= {ACTION: call.name, f"{call.name}.{ACTION}": call.arguments[ACTION]}
    return replace(call, name=BROWSER, arguments=arguments, toolset=None)


def result_content(result: ToolResult) -> tuple[Text | Image, ...]:
    """Return the content of a result, with the state of the browser in words."""
    state = result.browser_state
    return result.content if state is None else (*result.content, Text(state_text(state)))


def state_text(state: Mapping[str, Any]) -> str:
    """Return the tabs and what has changed, for a model."""
    lines = [_tab(tab) for tab in state.get("tabs", ())]
    lines += [_change(change) for change in state.get("state_changes", ())]
    return "\n".join(lines) or "No tab is open."


def _tab(tab: Mapping[str, Any]) -> str:
    active = ", active" if tab.get("active") else ""
    title, dialog = tab.get("title", ""), dialog_text(tab)
    return f'Tab {tab.get("tab_id")}{active}: "{title}" {tab.get("url", "")} {dialog}'.strip()


def dialog_text(tab: Mapping[str, Any]) -> str:
    """Return the dialog of a tab in words; empty without one."""
    dialog = tab.get("dialog")
    if not dialog:
        return ""
    message = f': "{dialog["message"]}"' if dialog["message"] else ""
    return f"(waits for its dialog {dialog['type']}{message})"


def toolset_content(state: Mapping[str, Any]) -> tuple[Json, str]:
    """Return the state with the fields that the provider's toolset knows, and the rest in words."""
    tabs = [{name: tab[name] for name in tab if name != "dialog"} for tab in state.get("tabs", ())]
    dialogs = [
        f"Tab {tab.get('tab_id')} {text}"
        for tab in state.get("tabs", ())
        if (text := dialog_text(tab))
    ]
    return {**state, "tabs": tabs}, "\n".join(dialogs)


def _change(change: Mapping[str, Any]) -> str:
    words = str(change.get("type")).replace("_", " ")
    details = [change.get(name) for name in ("tab_id", "path", "url", "error")]
    return f"Changed: {words} {' '.join(str(one) for one in details if one)}".strip()
