"""Strict validation of requests of chat completions, as any compatible server reads them. Pure.

Refused is what some servers do not read: pictures in tool messages, cache marks, fields of
reasoning, and everything else that is not part of the protocol's core.
"""

import json
import re
from typing import Any

from deskhand.tools.agents.providers.compatible.computer_tool import ACTION, ACTIONS, COMPUTER
from deskhand.tools.agents.providers.compatible.wire import RESULT_PICTURES
from deskhand.tools.agents.scripted.script.reading import (
    check,
    check_keys,
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

Json = dict[str, Any]

TOP_KEYS = frozenset({"model", "messages", "tools", "stream", "stream_options"})
MESSAGE_KEYS = {
    "system": frozenset({"content"}),
    "user": frozenset({"content"}),
    "assistant": frozenset({"content", "tool_calls"}),
    "tool": frozenset({"content", "tool_call_id"}),
}
MOST_PICTURES = 50
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ADDRESS = re.compile(r"data:(?P<type>image/[a-z]+);base64,(?P<data>.+)", re.DOTALL)


def read_request(body: object, measure: Measure) -> Request:
    """Validate the body of a request and return the parts that a player needs.

    Raises:
        InvalidRequest: At the first violation of the protocol.
    """
    data = read_object(body, "request")
    check_keys(data, TOP_KEYS, "request")
    stream = data.get("stream", False)
    check(isinstance(stream, bool), "stream", "must be true or false")
    options = read_object(data.get("stream_options", {}), "stream_options")
    check_keys(options, {"include_usage"}, "stream_options")
    check(stream or not options, "stream_options", "is for a stream only")
    reader = _Reader(measure)
    reader.tools(read_list(data.get("tools", []), "tools"))
    messages = reader.messages(read_list(data.get("messages"), "messages"))
    return Request(
        read_string(data, "model", "request"),
        stream,
        tuple(messages),
        frozenset(reader.names - {COMPUTER}),
        COMPUTER in reader.names,
        tuple(reader.pictures),
        reader.system,
        tuple(data.get("tools", [])),
    )


class _Reader:
    """Validates one request, and converts its messages."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._open: list[str] = []
        self._ids: set[str] = set()
        self.names: set[str] = set()
        self.pictures: list[SeenPicture] = []
        self.system = ""

    def tools(self, items: list[Any]) -> None:
        for index, item in enumerate(items):
            where = f"tools.{index}"
            tool = read_object(item, where)
            check_keys(tool, {"type", "function"}, where)
            check(tool.get("type") == "function", f"{where}.type", "must be function")
            function = read_object(tool.get("function"), f"{where}.function")
            check_keys(function, {"name", "description", "parameters"}, f"{where}.function")
            name = read_string(function, "name", f"{where}.function")
            check(NAME.fullmatch(name) is not None, f"{where}.name", "has characters not allowed")
            check(name not in self.names, f"{where}.name", "tool names must be unique")
            schema = read_object(function.get("parameters"), f"{where}.parameters")
            check(schema.get("type") == "object", f"{where}.parameters", "must be object")
            self.names.add(name)

    def messages(self, items: list[Any]) -> list[Json]:
        found: list[Json] = []
        for index, item in enumerate(items):
            where = f"messages.{index}"
            message = read_object(item, where)
            role = message.get("role")
            check(role in MESSAGE_KEYS, f"{where}.role", "is not known")
            check_keys(message, {"role", *MESSAGE_KEYS[str(role)]}, where)
            if role == "system":
                check(index == 0, where, "must be the first")
                self.system = read_string(message, "content", where)
                continue
            answers = role == "tool"
            check(bool(self._open) == answers, where, "results must follow their calls at once")
            self._add(found, "assistant" if role == "assistant" else "user", message, where)
        check(not self._open, "messages", "the last calls have no results")
        last = found[-1]["role"] if found else "assistant"
        check(last == "user", "messages", "the last must be of the user or a result")
        return found

    def _add(self, found: list[Json], role: str, message: Json, where: str) -> None:
        if role == "assistant":
            blocks = self._reply(message, where)
        elif message["role"] == "tool":
            blocks = [self._result(message, where)]
        else:
            blocks = self._said(message, where)
        # Results and what follows them are one message for the player.
        if found and found[-1]["role"] == role:
            found[-1]["content"] += blocks
        else:
            found.append({"role": role, "content": blocks})

    def _reply(self, message: Json, where: str) -> list[Json]:
        text, calls = message.get("content"), read_list(message.get("tool_calls", []), where)
        good = (isinstance(text, str) and bool(text)) or (text is None and bool(calls))
        check(good, f"{where}.content", "must be a text, or null beside calls")
        blocks: list[Json] = [{"type": "text", "text": text}] if text else []
        return blocks + [self._call(c, f"{where}.tool_calls.{i}") for i, c in enumerate(calls)]

    def _call(self, item: object, where: str) -> Json:
        call = read_object(item, where)
        check_keys(call, {"id", "type", "function"}, where)
        call_id = read_string(call, "id", where)
        check(call_id not in self._ids, f"{where}.id", "ids must be unique")
        self._ids.add(call_id)
        self._open.append(call_id)
        function = read_object(call.get("function"), f"{where}.function")
        check_keys(function, {"name", "arguments"}, f"{where}.function")
        name = read_string(function, "name", f"{where}.function")
        try:
            given = json.loads(read_string(function, "arguments", f"{where}.function"))
        except ValueError:
            raise InvalidRequest(f"{where}.arguments", "is not JSON") from None
        arguments = read_object(given, f"{where}.arguments")
        if name == COMPUTER:
            known = arguments.get(ACTION) in ACTIONS
            check(known, f"{where}.arguments.{ACTION}", "is no action of the computer")
        return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}

    def _result(self, message: Json, where: str) -> Json:
        call_id = read_string(message, "tool_call_id", where)
        check(call_id == self._open[0], where, f"the result of {self._open[0]} is out of order")
        del self._open[0]
        # Only text: most servers read no pictures here.
        text = read_string(message, "content", where)
        block = {"type": "text", "text": text}
        return {"type": "tool_result", "tool_use_id": call_id, "content": [block]}

    def _said(self, message: Json, where: str) -> list[Json]:
        parts = read_list(message.get("content"), f"{where}.content")
        check(bool(parts), f"{where}.content", "must not be empty")
        blocks = [self._part(part, f"{where}.content.{i}") for i, part in enumerate(parts)]
        # The line before the pictures of results is none of the person's.
        return [block for block in blocks if block.get("text") != RESULT_PICTURES]

    def _part(self, item: object, where: str) -> Json:
        part = read_object(item, where)
        if part.get("type") == "text":
            check_keys(part, {"type", "text"}, where)
            return {"type": "text", "text": read_string(part, "text", where)}
        check(part.get("type") == "image_url", f"{where}.type", "must be text or image_url")
        check_keys(part, {"type", "image_url"}, where)
        image = read_object(part.get("image_url"), f"{where}.image_url")
        check_keys(image, {"url"}, f"{where}.image_url")
        address = ADDRESS.fullmatch(read_string(image, "url", f"{where}.image_url"))
        if address is None:
            raise InvalidRequest(f"{where}.image_url.url", "must be a data address of a picture")
        self._picture(address["type"], address["data"], where)
        return {"type": "image"}

    def _picture(self, declared: str, text: str, where: str) -> None:
        picture = read_picture(text, self._measure, where)
        check(declared == picture.measured.media_type, where, "the type is not what it is")
        self.pictures.append(picture)
        check(len(self.pictures) <= MOST_PICTURES, where, f"more than {MOST_PICTURES} pictures")
