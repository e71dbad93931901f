"""The browser toolset in requests, checked as strictly as the provider does. Pure.

Sources are the types of the official client, as of November 2026: an entry without a name, configs
for known members only, and after a call that succeeded at most one ``browser_state``.
"""

from typing import Any

from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.scripted.script.reading import check, check_keys
from deskhand.tools.agents.scripted.script.request import InvalidRequest

Json = dict[str, Any]

BROWSER = "browser"
TOOLSET = "browser_toolset_20260801"
STATE = "browser_state"
MEMBERS = frozenset(
    (
        *("navigate", "list_tabs", "new_tab", "switch_tab", "close_tab", "read_page", "find"),
        *("get_page_text", "read_console", "read_network", "form_input", "file_upload", "wait"),
        *("scroll_to", "screenshot", "zoom", "left_click", "right_click", "middle_click", "key"),
        *("double_click", "triple_click", "hover", "left_click_drag", "left_mouse_down", "type"),
        *("left_mouse_up", "mouse_move", "scroll", "hold_key", "javascript_exec"),
    )
)
_OFF = frozenset({"file_upload", "javascript_exec"})
"""Members that are off by default."""
_CHANGES = {
    "tab_opened": frozenset({"tab_id"}),
    "download_started": frozenset({"download_id", "url"}),
    "download_completed": frozenset({"download_id", "url", "path", "size_bytes"}),
    "download_failed": frozenset({"download_id", "url", "error"}),
}
_OPTIONAL = frozenset({"path", "size_bytes", "error"})


def check_model(model: str, where: str) -> None:
    """Check that a model has the toolset: those with an older computer tool have not."""
    if not model_facts(model).computer.startswith("computer_toolset"):
        raise InvalidRequest(where, f"{model} does not support {TOOLSET}")


def offered_members(tool: Json, where: str) -> frozenset[str]:
    """Check the entry of the toolset; return the members that it enables."""
    check_keys(tool, {"type", "configs", "cache_control"}, where)
    enabled = set(MEMBERS - _OFF)
    configs = tool.get("configs")
    configs = {} if configs is None else configs
    check(isinstance(configs, dict), f"{where}.configs", "must be an object")
    for member, config in configs.items():
        at = f"{where}.configs.{member}"
        check(member in MEMBERS, at, "is no member")
        check(isinstance(config, dict), at, "must be an object")
        check_keys(config, {"enabled", "defer_loading"}, at)
        on = config.get("enabled", member not in _OFF)
        check(isinstance(on, bool), f"{at}.enabled", "must be true or false")
        (enabled.add if on else enabled.discard)(member)
    return frozenset(enabled)


def check_result(result: Json, where: str) -> None:
    """Check the states of the browser in a result."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    states = [one for one in blocks if isinstance(one, dict) and one.get("type") == STATE]
    if not states:
        return
    check(result.get("toolset_name") == BROWSER, where, f"{STATE} is for the browser toolset")
    check(not result.get("is_error"), where, f"a failed result has no {STATE}")
    check(len(states) == 1, where, f"at most one {STATE}")
    _check_state(states[0], f"{where}.{STATE}")


def without_states(result: Json) -> Json:
    """Return a result without the states, which a player does not read."""
    content = result.get("content")
    if not isinstance(content, list):
        return result
    kept = [one for one in content if not isinstance(one, dict) or one.get("type") != STATE]
    return {**result, "content": kept or ""}


def _check_state(state: Json, where: str) -> None:
    check_keys(state, {"type", "tabs", "state_changes", "cache_control"}, where)
    tabs = state.get("tabs")
    check(isinstance(tabs, list), f"{where}.tabs", "must be a list")
    ids = []
    active = 0
    for index, tab in enumerate(tabs or []):
        at = f"{where}.tabs.{index}"
        check(isinstance(tab, dict), at, "must be an object")
        check_keys(tab, {"tab_id", "title", "url", "active"}, at)
        for name in ("tab_id", "title", "url"):
            check(isinstance(tab.get(name), str), f"{at}.{name}", "must be a text")
        ids.append(tab["tab_id"])
        active += tab.get("active", False) is True
    check(len(set(ids)) == len(ids), f"{where}.tabs", "ids must be unique")
    check(active == bool(ids), f"{where}.tabs", "exactly one tab must be active")
    if "state_changes" not in state:
        return
    changes = state["state_changes"]
    some = isinstance(changes, list) and bool(changes)
    check(some, f"{where}.state_changes", "must be left out instead of empty")
    for index, change in enumerate(changes):
        _check_change(change, ids, f"{where}.state_changes.{index}")


def _check_change(change: object, tabs: list[str], where: str) -> None:
    if not isinstance(change, dict):
        raise InvalidRequest(where, "must be an object")
    known = _CHANGES.get(str(change.get("type")))
    if known is None:
        raise InvalidRequest(f"{where}.type", "is not known")
    check_keys(change, {"type", *known}, where)
    for name in known - _OPTIONAL:
        check(isinstance(change.get(name), str), f"{where}.{name}", "must be a text")
    opened = change["type"] == "tab_opened"
    check(not opened or change["tab_id"] in tabs, f"{where}.tab_id", "is no tab that is open")
