"""Strict validation of requests of the Messages protocol (https://docs.claude.com/en/api/messages).

A provider accepts some of what is refused here, such as results in another order than their calls.
The scripted server is stricter than every provider, so that a request which it accepts is accepted
everywhere: tests against it find invalid requests without a key.
"""

import re
from typing import Any

from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.scripted.script.reading import (
    check,
    check_keys,
    is_whole,
    read_list,
    read_object,
    read_picture,
    read_string,
)
from deskhand.tools.agents.scripted.script.request import Measure, Request, SeenPicture

from . import browser_toolset
from .compaction import check_blocks, check_fields
from .thinking import BINDING_BETA, check_thinking, check_turn

Json = dict[str, Any]

# Limits of pictures: https://docs.claude.com/en/docs/build-with-claude/vision. A provider scales
# down larger ones, after which coordinates do not fit any more.
LONGEST_EDGE = 1568
MOST_PIXELS = 1_150_000
MOST_MARKS = 4
"""Cache marks (``cache_control``) in one request."""
MOST_TOKENS = 1_000_000
COMPUTER = "computer"
COMPUTER_TOOLSET = "computer_toolset_20260801"
# The actions of the computer toolset. A misspelt action of a script is found when its call returns
# with the next request.
MEMBERS = frozenset(
    [
        "key",
        "hold_key",
        "type",
        "cursor_position",
        "mouse_move",
        "left_mouse_down",
        "left_mouse_up",
        "left_click",
        "left_click_drag",
        "right_click",
        "middle_click",
        "double_click",
        "triple_click",
        "scroll",
        "wait",
        "screenshot",
        "zoom",
    ]
)
# An unknown key is refused, as by the provider, so that a misspelt option is found without an
# account there.
TOP_KEYS = frozenset(
    [
        "model",
        "max_tokens",
        "messages",
        "system",
        "tools",
        "stream",
        "tool_choice",
        "temperature",
        "top_p",
        "top_k",
        "stop_sequences",
        "metadata",
        "thinking",
        "output_config",
        "compaction",
        "context_management",
    ]
)
BLOCK_KEYS = {
    "text": frozenset({"text"}),
    "image": frozenset({"source"}),
    "tool_use": frozenset({"id", "name", "input", "toolset_name"}),
    "thinking": frozenset({"thinking", "signature"}),
    "redacted_thinking": frozenset({"data"}),
    "compaction": frozenset({"content", "signature", "encrypted_content", "tool_changes"}),
    "tool_result": frozenset({"tool_use_id", "content", "is_error", "toolset_name"}),
}
ALLOWED_BLOCKS = {
    "user": ("text", "image", "tool_result"),
    "assistant": ("text", "tool_use", "thinking", "redacted_thinking", "compaction"),
    "result": ("text", "image"),
    # Keep in step with ``_result`` in ``providers.anthropic.wire``, which leaves pictures out of a
    # failed result.
    "failed result": ("text",),
}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def read_request(body: object, measure: Measure, betas: frozenset[str] = frozenset()) -> Request:
    """Validate the body of a request and return the parts that a player needs.

    ``betas`` are the values of its header ``anthropic-beta``.

    Raises:
        InvalidRequest: At the first violation of the protocol.
    """
    data = read_object(body, "request")
    check_keys(data, TOP_KEYS, "request")
    model = read_string(data, "model", "request")
    good = is_whole(data.get("max_tokens"), 1, MOST_TOKENS)
    check(good, "max_tokens", f"must be a whole number from 1 to {MOST_TOKENS}")
    stream = data.get("stream", False)
    check(isinstance(stream, bool), "stream", "must be true or false")
    summarize = check_fields(data, betas)
    reader = _Reader(measure, model)
    # The tools come first: the calls in the messages are checked against the toolset that they
    # offer.
    reader.tools(data.get("tools", []))
    reader.system(data.get("system", []))
    drop_block = check_thinking(data, betas)
    messages = reader.messages(read_list(data.get("messages"), "messages"))
    check_blocks(messages, betas)
    check_turn(data.get("thinking"), messages)
    return Request(
        model,
        stream,
        messages,
        frozenset(reader.custom),
        reader.computer,
        tuple(reader.pictures),
        data.get("system", []),
        tuple(data.get("tools", [])),
        drop_block,
        BINDING_BETA in betas,
        summarize,
    )


class _Reader:
    """Validates one request; counts what is limited over the whole of it."""

    def __init__(self, measure: Measure, model: str) -> None:
        self._measure = measure
        self._model = model
        self._most_pictures = model_facts(model).pictures
        self._browser: frozenset[str] | None = None
        self._marks = 0
        self._ids: set[str] = set()
        self.custom: set[str] = set()
        self.computer = False
        self.pictures: list[SeenPicture] = []

    def tools(self, value: object) -> None:
        for index, item in enumerate(read_list(value, "tools")):
            where = f"tools.{index}"
            tool = read_object(item, where)
            self._mark(tool, where)
            if "type" in tool and tool["type"] != "custom":
                self._toolset(tool, where)
            else:
                self._custom_tool(tool, where)

    def _toolset(self, tool: Json, where: str) -> None:
        if tool["type"] == browser_toolset.TOOLSET:
            check(self._browser is None, where, "the browser toolset is there twice")
            browser_toolset.check_model(self._model, f"{where}.type")
            self._browser = browser_toolset.offered_members(tool, where)
            return
        check(tool["type"] == COMPUTER_TOOLSET, f"{where}.type", "is no tool type we know")
        check_keys(tool, {"type", "configs", "cache_control"}, where)
        check(not self.computer, where, "the computer toolset is there twice")
        for member, config in read_object(tool.get("configs", {}), f"{where}.configs").items():
            check(member in MEMBERS, f"{where}.configs.{member}", "is no member")
            check_keys(
                read_object(config, where),
                {"enabled", "defer_loading"},
                f"{where}.configs.{member}",
            )
        self.computer = True

    def _custom_tool(self, tool: Json, where: str) -> None:
        check_keys(tool, {"type", "name", "description", "input_schema", "cache_control"}, where)
        name = read_string(tool, "name", where)
        check(NAME.fullmatch(name) is not None, f"{where}.name", "has characters not allowed")
        check(name not in self.custom, f"{where}.name", "tool names must be unique")
        schema = read_object(tool.get("input_schema"), f"{where}.input_schema")
        check(schema.get("type") == "object", f"{where}.input_schema.type", "must be object")
        self.custom.add(name)

    def system(self, value: object) -> None:
        if value and not isinstance(value, str):
            self._blocks(value, "system", ("text",))

    def messages(self, items: list[object]) -> tuple[Json, ...]:
        check(bool(items), "messages", "at least one message is required")
        messages = [self._message(item, f"messages.{i}") for i, item in enumerate(items)]
        # The summary of a compaction is in the form of a reply.
        began = messages[0]["role"] == "user" or messages[0]["content"][0]["type"] == "compaction"
        check(began, "messages.0.role", "the first must be of the user")
        open_calls: list[Json] = []
        for index, message in enumerate(messages):
            where = f"messages.{index}"
            if index:
                turn = message["role"] != messages[index - 1]["role"]
                check(turn, f"{where}.role", "roles must alternate")
            _answered(open_calls, message["content"], where)
            open_calls = [b for b in message["content"] if b["type"] == "tool_use"]
        check(not open_calls, "messages", "the last calls have no results")
        return tuple(messages)

    def _message(self, item: object, where: str) -> Json:
        message = read_object(item, where)
        check_keys(message, {"role", "content"}, where)
        role = message.get("role")
        check(role in ("user", "assistant"), f"{where}.role", "must be user or assistant")
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        kinds = ALLOWED_BLOCKS[str(role)]
        return {"role": role, "content": self._blocks(content, f"{where}.content", kinds)}

    def _blocks(self, value: object, where: str, kinds: tuple[str, ...]) -> list[Json]:
        items = read_list(value, where)
        check(bool(items), where, "must not be empty")
        return [self._block(item, f"{where}.{i}", kinds) for i, item in enumerate(items)]

    def _block(self, item: object, where: str, kinds: tuple[str, ...]) -> Json:
        block = read_object(item, where)
        kind = block.get("type")
        check(kind in kinds, f"{where}.type", f"must be one of {', '.join(kinds)}")
        check_keys(block, {"type", "cache_control", *BLOCK_KEYS[str(kind)]}, where)
        self._mark(block, where)
        if kind == "text":
            check(bool(read_string(block, "text", where).strip()), where, "text must not be blank")
        elif kind == "image":
            self._picture(block, where)
        elif kind == "tool_use":
            self._call(block, where)
        elif kind == "compaction":
            read_string(block, "content", where)
            read_string(block, "signature", where)
        elif kind in ("thinking", "redacted_thinking"):
            needed = "signature" if kind == "thinking" else "data"
            check(bool(read_string(block, needed, where)), where, f"{needed} must not be empty")
            check("cache_control" not in block, where, "thinking takes no cache mark")
        else:
            self._result(block, where)
        return block

    def _picture(self, block: Json, where: str) -> None:
        source = read_object(block.get("source"), f"{where}.source")
        check_keys(source, {"type", "media_type", "data"}, f"{where}.source")
        check(source.get("type") == "base64", f"{where}.source.type", "must be base64")
        text = read_string(source, "data", f"{where}.source")
        picture = read_picture(text, self._measure, f"{where}.source.data")
        measured = picture.measured
        declared = source.get("media_type")
        check(declared == measured.media_type, f"{where}.source.media_type", "is not what it is")
        fits = max(measured.width, measured.height) <= LONGEST_EDGE
        small = measured.width * measured.height <= MOST_PIXELS
        size = f"{measured.width}x{measured.height}"
        check(fits and small, where, f"a picture of {size} is too large")
        self.pictures.append(picture)
        number, most = len(self.pictures), self._most_pictures
        problem = f"Too much media: 0 document pages + {number} images > {most}"
        check(number <= most, where, problem)

    def _call(self, block: Json, where: str) -> None:
        call_id = read_string(block, "id", where)
        check(NAME.fullmatch(call_id) is not None, f"{where}.id", "has characters not allowed")
        check(call_id not in self._ids, f"{where}.id", "ids must be unique")
        self._ids.add(call_id)
        name = read_string(block, "name", where)
        read_object(block.get("input"), f"{where}.input")
        toolset = block.get("toolset_name")
        # Calls of custom tools are not compared with the offered ones: the offer may change between
        # turns (``type_secret`` needs a secret), and the history keeps the calls.
        if toolset is None:
            return
        if toolset == browser_toolset.BROWSER and self._browser is not None:
            check(name in self._browser, f"{where}.name", "is no enabled member of the toolset")
            return
        known = toolset == COMPUTER and self.computer
        check(known, f"{where}.toolset_name", "no such toolset is offered")
        check(name in MEMBERS, f"{where}.name", "is no member of the toolset")

    def _result(self, block: Json, where: str) -> None:
        read_string(block, "tool_use_id", where)
        browser_toolset.check_result(block, where)
        block = browser_toolset.without_states(block)
        failed = block.get("is_error", False)
        check(isinstance(failed, bool), f"{where}.is_error", "must be true or false")
        content = block.get("content", "")
        if not isinstance(content, str):
            kinds = ALLOWED_BLOCKS["failed result" if failed else "result"]
            self._blocks(content, f"{where}.content", kinds)

    def _mark(self, data: Json, where: str) -> None:
        mark = data.get("cache_control")
        if mark is None:
            return
        where = f"{where}.cache_control"
        check(read_object(mark, where).get("type") == "ephemeral", where, "must be ephemeral")
        check_keys(mark, {"type", "ttl"}, where)
        # The provider limits the marks of the whole request: tools, system prompt and messages
        # together.
        self._marks += 1
        check(self._marks <= MOST_MARKS, where, f"more than {MOST_MARKS} cache marks")


def _answered(calls: list[Json], content: list[Json], where: str) -> None:
    """Check that a message begins with exactly the results of ``calls``, in their order."""
    results = [b for b in content if b["type"] == "tool_result"]
    for index, call in enumerate(calls):
        # Results must be the first blocks of the message: the provider refuses a text before them.
        at = f"{where}.content.{index}"
        block = content[index] if index < len(content) else {}
        answered = block.get("tool_use_id") == call["id"]
        check(answered, at, f"the result of {call['id']} is missing or out of order")
        same = block.get("toolset_name") == call.get("toolset_name")
        check(same, f"{at}.toolset_name", "must be that of the call")
    check(len(results) == len(calls), where, "a result without a call before it")
