"""Conversion of our conversation into requests of Gemini's ``generateContent``. Pure.

Contents are in the JSON form of the protocol, the configuration in the form of the official
client, which reads both. A part that the model made goes back as it came
(:data:`~.stream.PART`); a call without its part, as after a checkpoint or from another model, is
written anew, with the signature that the provider accepts for such calls
(https://ai.google.dev/gemini-api/docs/thought-signatures).
"""

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.tools.agents.providers.browser_tool import as_function, result_content
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import (
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from deskhand.tools.kit.support.spec import ToolSpec

from .functions import FUNCTIONS, OLD_FUNCTIONS, Size, function_of
from .stream import COMPUTER, PART

Json = dict[str, Any]

USUAL_SIZE: Size = (1280, 720)
"""Size of the picture before the first screenshot."""
UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode("ascii")
"""Stands for the signature of a call that the model did not make itself."""
DESKTOP, BROWSER = "ENVIRONMENT_DESKTOP", "ENVIRONMENT_BROWSER"
SIGNATURE = "thoughtSignature"


@dataclass(frozen=True)
class AwaitedResult:
    """A function call whose response the next message has."""

    function_id: str | None
    """As the model gave it; ``None`` if it gave none."""
    name: str
    calls: tuple[str, ...]
    """Ids of our calls that the function is."""


@dataclass(frozen=True)
class MessageContents:
    """What one message becomes."""

    contents: tuple[Json, ...]
    awaited: tuple[AwaitedResult, ...] = ()
    pictures: int = 0
    missing: bool = False
    """True if a picture of it was removed."""
    size: int = 0
    """Bytes on the wire."""


def configuration(prompt: Prompt, *, old: bool = False, effort: str | None = None) -> Json:
    """Return the configuration of a request; ``old`` offers the functions of the previews."""
    tools: list[Json] = []
    if prompt.computer:
        # A tool of ours with the name of a predefined function replaces it.
        ours = {spec.name for spec in prompt.tools}
        excluded = sorted(ours & {*FUNCTIONS, *(OLD_FUNCTIONS if old else ())})
        tool: Json = {"environment": BROWSER if old else DESKTOP}
        tools.append({"computer_use": tool | _if_any("excluded_predefined_functions", excluded)})
    if prompt.tools:
        # The provider accepts the two kinds only as separate tools.
        tools.append({"function_declarations": [_declaration(spec) for spec in prompt.tools]})
    return {
        "max_output_tokens": prompt.max_tokens,
        "automatic_function_calling": {"disable": True},
        "thinking_config": {
            "include_thoughts": True,
            **({} if effort is None else {"thinking_level": effort.upper()}),
        },
        **({"system_instruction": prompt.system} if prompt.system.strip() else {}),
        **_if_any("tools", tools),
    }


def screen_size(messages: Iterable[Message]) -> Size:
    """Return the size of the newest screenshot, in which the model gives points."""
    size = USUAL_SIZE
    for message in messages:
        for block in message.content:
            if isinstance(block, ToolResult) and block.toolset == COMPUTER:
                for inner in block.content:
                    size = (inner.width, inner.height) if isinstance(inner, Image) else size
    return size


def contents_of(
    message: Message,
    pictures: Mapping[str, bytes],
    awaited: tuple[AwaitedResult, ...],
    size: Size,
    *,
    valid: bool = True,
) -> MessageContents:
    """Convert a message; ``awaited`` are the calls of the message before it.

    A picture without bytes becomes a line of text. ``size`` is that of the newest screenshot.
    Without ``valid`` something before the message has changed, so that its signatures are worth
    nothing.
    """
    if message.role == "assistant":
        reply = _Reply(message, size, valid=valid)
        return _measured([{"role": "model", "parts": reply.parts}], tuple(reply.awaited))
    writer = _Pictures(pictures)
    results = {b.call_id: b for b in message.content if isinstance(b, ToolResult)}
    others = [b for b in message.content if isinstance(b, Text | Image)]
    responses = [_response(one, results, writer) for one in awaited]
    said = [writer.part(b) for b in others if not (isinstance(b, Text) and not b.text.strip())]
    # Responses stand alone: the provider counts the parts of their content.
    contents = [{"role": "user", "parts": parts} for parts in (responses, said)]
    return _measured(contents, (), writer.count, writer.missing)


class _Reply:
    """The parts of a message of the model."""

    def __init__(self, message: Message, size: Size, *, valid: bool) -> None:
        self.parts: list[Json] = []
        self.awaited: list[AwaitedResult] = []
        self._size = size
        self._valid = valid
        self._calls = {b.id for b in message.content if isinstance(b, ToolCall)}
        self._covered: set[str] = set()
        self._written: str | None = None
        for block in message.content:
            if isinstance(block, Thinking):
                self._keep(block.data)
            elif isinstance(block, ToolCall):
                self._call(block)
            elif isinstance(block, Text):
                self._say(block.text)

    def _keep(self, data: Json) -> None:
        # Blocks of other providers are worth nothing here.
        if data.get("type") != PART:
            return
        part: Json = data["part"]
        if "calls" in data:
            calls = tuple(one for one in data["calls"] if one in self._calls)
            # A call that was cut off at its end has no result.
            if not calls:
                return
            given = part["functionCall"]
            # A second call of one id was not run, and has no result of its own.
            own = tuple(one for one in calls if one not in self._covered)
            self._covered.update(calls)
            self.awaited.append(AwaitedResult(given.get("id"), given["name"], own))
        elif not part.get("thought"):
            self._written = part.get("text")
        self.parts.append(part if self._valid else _without_signature(part))

    def _say(self, text: str) -> None:
        if text != self._written and text.strip():
            self.parts.append({"text": text})
        self._written = None

    def _call(self, call: ToolCall) -> None:
        if call.id in self._covered:
            return
        call = as_function(call)
        name, arguments = call.name, call.arguments
        if call.toolset is not None:
            function = function_of(call.name, call.arguments, self._size)
            name, arguments = function.name, function.arguments
        given = {"id": call.id, "name": name, "args": arguments}
        part: Json = {"functionCall": given}
        # Only the first call of a reply has a signature.
        if not self.awaited:
            part[SIGNATURE] = UNSIGNED
        self.awaited.append(AwaitedResult(call.id, name, (call.id,)))
        self.parts.append(part)


class _Pictures:
    """Writes pictures and counts them."""

    def __init__(self, data: Mapping[str, bytes]) -> None:
        self._data = data
        self.count = 0
        self.missing = False

    def part(self, block: Text | Image) -> Json:
        if isinstance(block, Text):
            return {"text": block.text}
        data = self._data.get(block.file_id)
        if data is None:
            self.missing = True
            return {"text": f"[A picture that was removed: file {block.file_id}]"}
        self.count += 1
        return {
            "inlineData": {
                "mimeType": block.media_type,
                "data": base64.b64encode(data).decode("ascii"),
            }
        }


def _response(one: AwaitedResult, results: Mapping[str, ToolResult], writer: _Pictures) -> Json:
    own = [results[call] for call in one.calls if call in results]
    failed = [result for result in own if result.is_error]
    shown = [writer.part(b) for r in own for b in r.content if isinstance(b, Image)]
    texts = [b.text for r in failed or own for b in result_content(r) if isinstance(b, Text)]
    # A picture that was removed is a text.
    texts += [part["text"] for part in shown if "text" in part]
    key = "error" if failed or not own else "output"
    response: Json = {key: texts[0] if len(texts) == 1 else texts or "No result."}
    if any(result.acknowledged for result in own):
        response["safety_acknowledgement"] = "true"
    return {
        "functionResponse": {
            **({} if one.function_id is None else {"id": one.function_id}),
            "name": one.name,
            "response": response,
            **_if_any("parts", [part for part in shown if "text" not in part]),
        }
    }


def _declaration(spec: ToolSpec) -> Json:
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters_json_schema": spec.schema,
    }


def _without_signature(part: Json) -> Json:
    if SIGNATURE not in part or "functionCall" in part:
        return {**part, **({SIGNATURE: UNSIGNED} if SIGNATURE in part else {})}
    return {key: value for key, value in part.items() if key != SIGNATURE}


def _measured(
    contents: list[Json],
    awaited: tuple[AwaitedResult, ...],
    pictures: int = 0,
    missing: bool = False,
) -> MessageContents:
    kept = tuple(one for one in contents if one["parts"])
    return MessageContents(kept, awaited, pictures, missing, size(kept))


def size(value: object) -> int:
    """Return the bytes of a part of a request on the wire."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "surrogatepass"))


def _if_any(key: str, values: list[Any]) -> Json:
    return {key: values} if values else {}
