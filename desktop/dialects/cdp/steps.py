"""The action of a recording's step that a request of CDP is. Pure."""

from typing import Any, NamedTuple

Json = dict[str, Any]

LONGEST_TEXT = 2_000
_ADDRESSES = ("Page.navigate", "Target.createTarget")
_MARKED = ("Page.reload", "Page.handleJavaScriptDialog", "Target.closeTarget", "Page.close")


class CdpStep(NamedTuple):
    """An action and its text; ``type`` and ``key`` are judged as typing."""

    action: str
    text: str = ""


def step_of(method: str, parameters: Json) -> CdpStep | None:
    """Return the step of a request; None for the rest of what it belongs to, such as a release."""
    kind = parameters.get("type")
    if method == "Input.dispatchMouseEvent":
        if kind == "mouseWheel":
            return CdpStep("scroll")
        return CdpStep(_click(parameters)) if kind == "mousePressed" else None
    if method == "Input.dispatchKeyEvent":
        if kind not in ("keyDown", "rawKeyDown", "char"):
            return None
        text = parameters.get("text")
        if isinstance(text, str) and text.isprintable() and text:
            return CdpStep("type", text)
        return CdpStep("key", _text(parameters, "key"))
    if method == "Input.insertText":
        return CdpStep("type", _text(parameters, "text"))
    if method.startswith("Input.") and not method.startswith("Input.set"):
        return CdpStep(method.partition(".")[2])
    if method in _ADDRESSES:
        return CdpStep("navigate", _text(parameters, "url"))
    return CdpStep(method.partition(".")[2]) if method in _MARKED else None


def _click(parameters: Json) -> str:
    button = parameters.get("button")
    count = parameters.get("clickCount")
    if button in ("right", "middle"):
        return f"{button}_click"
    return "double_click" if count == 2 else "left_click"


def _text(parameters: Json, name: str) -> str:
    value = parameters.get(name)
    return value[:LONGEST_TEXT] if isinstance(value, str) else ""
