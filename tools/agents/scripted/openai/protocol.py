"""Strict validation of requests of the Responses protocol, and their conversion. Pure.

Like the server of the Messages protocol it is stricter than the provider: every key is known, each
call is answered exactly once, directly after its reply, and reasoning stands before the item that
it belongs to. In the canonical form the items of one side become one message.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from deskhand.tools.agents.scripted.script.reading import (
    check,
    check_keys,
    is_whole,
    read_list,
    read_object,
    read_picture,
    read_string,
)
from deskhand.tools.agents.scripted.script.request import (
    InvalidRequest,
    Measure,
    Request,
    SeenPicture,
)

from .actions import FIELDS

Json = dict[str, Any]

MOST_PICTURES = 500
"""Pictures in a request (https://platform.openai.com/docs/guides/images-vision)."""
MOST_TOKENS = 128_000
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ADDRESS = re.compile(r"data:(image/(?:png|jpeg|webp|gif));base64,(.*)", re.DOTALL)
RESULT_OF = re.compile(r"Result of the computer call (\S+):")
COMPUTER_TOOLS = ("computer", "computer_use_preview")
ENCRYPTED = "reasoning.encrypted_content"
TOP_KEYS = frozenset(
    [
        *("model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls"),
        *("stream", "store", "include", "max_output_tokens", "metadata", "truncation"),
        *("prompt_cache_key", "prompt_cache_options", "reasoning", "context_management"),
    ]
)
ITEM_KEYS: Mapping[str, frozenset[str]] = {
    "message": frozenset({"id", "status", "role", "content", "phase"}),
    "reasoning": frozenset({"id", "status", "summary", "content", "encrypted_content"}),
    "function_call": frozenset({"id", "status", "call_id", "name", "arguments"}),
    "function_call_output": frozenset({"id", "status", "call_id", "output"}),
    "computer_call": frozenset(
        {"id", "status", "call_id", "action", "actions", "pending_safety_checks"}
    ),
    "computer_call_output": frozenset(
        {"id", "status", "call_id", "output", "acknowledged_safety_checks"}
    ),
    "compaction": frozenset({"id", "encrypted_content"}),
}
OUTPUT_OF = {"function_call_output": "function_call", "computer_call_output": "computer_call"}
REPLY_ITEMS = frozenset({"reasoning", "function_call", "computer_call", "compaction"})


def read_request(body: object, measure: Measure) -> Request:
    """Validate the body of a request and return the parts that a player needs.

    Raises:
        InvalidRequest: At the first violation of the protocol.
    """
    data = read_object(body, "request")
    check_keys(data, TOP_KEYS, "request")
    model = read_string(data, "model", "request")
    most = data.get("max_output_tokens", MOST_TOKENS)
    good = is_whole(most, 16, MOST_TOKENS)
    check(good, "max_output_tokens", f"must be a whole number from 16 to {MOST_TOKENS}")
    for key in ("stream", "store", "parallel_tool_calls"):
        check(isinstance(data.get(key, False), bool), key, "must be true or false")
    reader = _Reader(measure, stored=data.get("store", True))
    _check_options(data)
    reader.tools(data.get("tools", []))
    given = data.get("input")
    items = [{"type": "message", "role": "user", "content": given}] if _is_text(given) else given
    messages = reader.items(read_list(items, "input"))
    return Request(
        model,
        bool(data.get("stream", False)),
        messages,
        frozenset(reader.functions),
        reader.computer,
        tuple(reader.pictures),
        data.get("instructions") or "",
        tuple(data.get("tools", [])),
        items=tuple(read_list(items, "input")),
        explicit_cache=(data.get("prompt_cache_options") or {}).get("mode") == "explicit",
    )


def _check_options(data: Json) -> None:
    include = read_list(data.get("include", []), "include")
    check(set(include) <= {ENCRYPTED}, "include", "is not known")
    options = read_object(data.get("prompt_cache_options", {}), "prompt_cache_options")
    check_keys(options, {"mode", "ttl"}, "prompt_cache_options")
    mode = options.get("mode", "implicit")
    check(mode in ("implicit", "explicit"), "prompt_cache_options.mode", "is not known")
    reasoning = read_object(data.get("reasoning") or {}, "reasoning")
    check_keys(reasoning, {"effort", "summary", "context"}, "reasoning")
    efforts = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
    effort = reasoning.get("effort", "medium")
    check(effort in efforts, "reasoning.effort", "is not known")


class _Reader:
    """Validates the items of one request; counts what is limited over the whole of it."""

    def __init__(self, measure: Measure, *, stored: bool) -> None:
        self._measure = measure
        self._stored = stored
        self._call_ids: set[str] = set()
        self._open: dict[str, Json] = {}
        self._results: dict[str, Json] = {}
        self.functions: set[str] = set()
        self.computer = False
        self.pictures: list[SeenPicture] = []

    def tools(self, value: object) -> None:
        for index, item in enumerate(read_list(value, "tools")):
            where = f"tools[{index}]"
            tool = read_object(item, where)
            if tool.get("type") in COMPUTER_TOOLS:
                check_keys(tool, {"type"}, where)
                check(not self.computer, where, "the computer tool is there twice")
                self.computer = True
                continue
            check(tool.get("type") == "function", f"{where}.type", "is no tool type we know")
            check_keys(tool, {"type", "name", "description", "parameters", "strict"}, where)
            name = read_string(tool, "name", where)
            check(NAME.fullmatch(name) is not None, f"{where}.name", "has characters not allowed")
            check(name not in self.functions, f"{where}.name", "tool names must be unique")
            schema = read_object(tool.get("parameters"), f"{where}.parameters")
            check(schema.get("type") == "object", f"{where}.parameters.type", "must be object")
            self.functions.add(name)

    def items(self, items: list[object]) -> tuple[Json, ...]:
        check(bool(items), "input", "at least one item is required")
        messages: list[Json] = []
        after = ""
        for index, one in enumerate(items):
            where = f"input[{index}]"
            item = read_object(one, where)
            kind = item.get("type", "message")
            check(kind in ITEM_KEYS, f"{where}.type", "is no item type we know")
            check_keys(item, {"type", *ITEM_KEYS[kind]}, where)
            role = _role(item, kind, where)
            reasoned = after == "reasoning" and (role != "assistant" or kind == "compaction")
            check(not reasoned, where, "reasoning without its following item")
            self._check_answered(kind, role, where)
            if not messages or messages[-1]["role"] != role:
                messages.append({"role": role, "content": []})
            messages[-1]["content"] += self._item(kind, item, where)
            after = kind
        check(after != "reasoning", "input", "reasoning without its following item")
        check(not self._open, "input", f"No tool output found for {', '.join(self._open)}")
        # A computer call is answered by a screenshot, and in words by the message beside it.
        return tuple(m for m in messages if m["content"])

    def _check_answered(self, kind: str, role: str, where: str) -> None:
        if kind in OUTPUT_OF or not self._open:
            return
        if role == "assistant" and not self._results:
            return
        unanswered = ", ".join(self._open)
        check(False, where, f"No tool output found for {unanswered}")

    def _item(self, kind: str, item: Json, where: str) -> list[Json]:
        if kind == "message":
            return self._message(item, where)
        if kind == "reasoning":
            return [self._reasoning(item, where)]
        if kind == "compaction":
            content = read_string(item, "encrypted_content", where)
            return [{"type": "compaction", "content": content}]
        if kind in OUTPUT_OF:
            return self._output(kind, item, where)
        call_id = read_string(item, "call_id", where)
        check(call_id not in self._call_ids, f"{where}.call_id", "ids must be unique")
        self._call_ids.add(call_id)
        self._open[call_id] = item
        self._results.clear()
        if kind == "function_call":
            return [self._function_call(item, where)]
        return self._computer_call(item, where)

    def _message(self, item: Json, where: str) -> list[Json]:
        content = item.get("content")
        if _is_text(content):
            content = [{"type": "input_text", "text": content}]
        blocks = read_list(content, f"{where}.content")
        check(bool(blocks), f"{where}.content", "must not be empty")
        if item.get("role") == "assistant":
            return [self._said(one, f"{where}.content[{i}]") for i, one in enumerate(blocks)]
        read = [self._content(one, f"{where}.content[{i}]") for i, one in enumerate(blocks)]
        return self._beside(read)

    def _beside(self, blocks: list[Json]) -> list[Json]:
        """Move the words beside a screenshot into the results that they are about."""
        rest: list[Json] = []
        results: list[Json] = []
        for block in blocks:
            found = RESULT_OF.fullmatch(block.get("text", ""))
            if found and found[1] in self._results:
                results = self._results[found[1]]["calls"].copy()
            elif block["type"] == "text" and results:
                results.pop(0)["content"].append(block)
            elif block["type"] == "text":
                rest.append(block)
        return rest

    def _said(self, value: object, where: str) -> Json:
        part = read_object(value, where)
        kind = part.get("type")
        check(kind in ("output_text", "refusal"), f"{where}.type", "is no part of a reply")
        key = "text" if kind == "output_text" else "refusal"
        check_keys(part, {"type", key, "annotations", "logprobs"}, where)
        return {"type": "text", "text": read_string(part, key, where)}

    def _content(self, value: object, where: str) -> Json:
        part = read_object(value, where)
        kind = part.get("type")
        _check_breakpoint(part, where)
        if kind == "input_text":
            check_keys(part, {"type", "text", "prompt_cache_breakpoint"}, where)
            return {"type": "text", "text": read_string(part, "text", where)}
        check(kind == "input_image", f"{where}.type", "is no content type we know")
        check_keys(part, {"type", "image_url", "detail", "prompt_cache_breakpoint"}, where)
        self._picture(part, where)
        return {"type": "image"}

    def _picture(self, part: Json, where: str) -> None:
        address = ADDRESS.fullmatch(read_string(part, "image_url", where))
        if address is None:
            raise InvalidRequest(f"{where}.image_url", "is no data address of a picture")
        picture = read_picture(address[2], self._measure, f"{where}.image_url")
        declared = address[1]
        check(picture.measured.media_type == declared, f"{where}.image_url", "is not what it is")
        self.pictures.append(picture)
        check(len(self.pictures) <= MOST_PICTURES, where, f"more than {MOST_PICTURES} pictures")

    def _reasoning(self, item: Json, where: str) -> Json:
        read_string(item, "id", where)
        summary = read_list(item.get("summary"), f"{where}.summary")
        sealed = item.get("encrypted_content")
        # The provider keeps nothing of a conversation that it was asked not to store.
        check(self._stored or _is_text(sealed), where, "reasoning without encrypted_content")
        text = "".join(str(read_object(part, where).get("text", "")) for part in summary)
        return {"type": "thinking", "thinking": text, "signature": sealed or ""}

    def _function_call(self, item: Json, where: str) -> Json:
        name, arguments = read_string(item, "name", where), read_string(item, "arguments", where)
        try:
            given = json.loads(arguments)
        except ValueError:
            raise InvalidRequest(f"{where}.arguments", "is not JSON") from None
        return {"type": "tool_use", "id": item["call_id"], "name": name, "input": given}

    def _computer_call(self, item: Json, where: str) -> list[Json]:
        check(self.computer, where, "no computer tool is offered")
        single = [item["action"]] if item.get("action") else []
        actions = read_list(item.get("actions") or single, f"{where}.actions")
        check(bool(actions), f"{where}.actions", "must not be empty")
        for index, one in enumerate(actions):
            _check_action(read_object(one, where), f"{where}.actions[{index}]")
        return [
            {
                "type": "tool_use",
                # Ids of scripts end with an index and a nonce, after which anything may follow.
                "id": item["call_id"] if index == 0 else f"{item['call_id']}.{index}",
                "name": action["type"],
                "input": action,
                "toolset_name": "computer",
            }
            for index, action in enumerate(actions)
        ]

    def _output(self, kind: str, item: Json, where: str) -> list[Json]:
        call_id = read_string(item, "call_id", where)
        call = self._open.pop(call_id, {})
        check(call.get("type") == OUTPUT_OF[kind], where, f"no call {call_id} before it is open")
        if kind == "function_call_output":
            result: Json = {"type": "tool_result", "tool_use_id": call_id, "content": []}
            self._results[call_id] = {"calls": [result]}
            output = item.get("output")
            if _is_text(output):
                result["content"] = [{"type": "text", "text": output}]
            else:
                blocks = read_list(output, f"{where}.output")
                result["content"] = [
                    self._content(one, f"{where}.output[{i}]") for i, one in enumerate(blocks)
                ]
            return [result]
        self._screenshot(item, call, where)
        count = len(call.get("actions") or [call.get("action")])
        ids = [call_id, *(f"{call_id}.{index}" for index in range(1, count))]
        results = [
            {"type": "tool_result", "tool_use_id": one, "content": [], "toolset_name": "computer"}
            for one in ids
        ]
        self._results[call_id] = {"calls": list(results)}
        return results

    def _screenshot(self, item: Json, call: Json, where: str) -> None:
        output = read_object(item.get("output"), f"{where}.output")
        check_keys(output, {"type", "image_url"}, f"{where}.output")
        good = output.get("type") == "computer_screenshot"
        check(good, f"{where}.output.type", "must be computer_screenshot")
        self._picture(output, f"{where}.output")
        pending = {one["id"] for one in call.get("pending_safety_checks") or ()}
        given = read_list(item.get("acknowledged_safety_checks") or [], where)
        acknowledged = {read_object(one, where).get("id") for one in given}
        check(
            acknowledged == pending,
            f"{where}.acknowledged_safety_checks",
            f"the pending checks are {sorted(pending)}",
        )


def _role(item: Json, kind: str, where: str) -> str:
    if kind in OUTPUT_OF:
        return "user"
    if kind in REPLY_ITEMS:
        return "assistant"
    role = item.get("role")
    known = ("user", "assistant", "system", "developer")
    check(role in known, f"{where}.role", f"must be one of {', '.join(known)}")
    return "assistant" if role == "assistant" else "user"


def _check_action(action: Json, where: str) -> None:
    kind = action.get("type")
    check(kind in FIELDS, f"{where}.type", "is no action we know")
    needs, takes = FIELDS[str(kind)]
    check_keys(action, {"type", *needs, *takes}, where)
    for key in needs:
        check(key in action, f"{where}.{key}", "is missing")


def _check_breakpoint(part: Json, where: str) -> None:
    given = part.get("prompt_cache_breakpoint")
    if given is not None:
        where = f"{where}.prompt_cache_breakpoint"
        check_keys(read_object(given, where), {"mode", "ttl"}, where)
        check(given.get("mode") == "explicit", f"{where}.mode", "must be explicit")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)
