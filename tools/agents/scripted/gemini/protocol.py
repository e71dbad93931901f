"""Strict validation of requests of ``generateContent`` (https://ai.google.dev/api/generate-content).

The provider accepts some of what is refused here, as a content with responses and texts. Names of
fields may be written in both styles, as the official client mixes them; they are read in one.

Each function call is answered in order, in the next content, which has nothing else. Points are on
the grid. A call that needs the confirmation of a person is answered with an acknowledgement, or
with an error.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from deskhand.tools.agents.providers.gemini.functions import FUNCTIONS, OLD_FUNCTIONS
from deskhand.tools.agents.providers.gemini.grid import LAST
from deskhand.tools.agents.scripted.script.request import (
    InvalidRequest,
    Measure,
    Request,
    SeenPicture,
)

from .messages import canonical

Json = dict[str, Any]

MOST_TOKENS = 1_000_000
MOST_PICTURES = 3000
ENVIRONMENTS = ("ENVIRONMENT_DESKTOP", "ENVIRONMENT_BROWSER")
TOP_KEYS = frozenset({"contents", "systemInstruction", "tools", "generationConfig"})
CONFIGURATION_KEYS = frozenset({"maxOutputTokens", "thinkingConfig", "temperature", "topP", "topK"})
COMPUTER_KEYS = frozenset(
    {
        "environment",
        "excludedPredefinedFunctions",
        "enablePromptInjectionDetection",
        "disabledSafetyPolicies",
    }
)
PART_KINDS = {
    "user": frozenset({"text", "inlineData", "functionResponse"}),
    "model": frozenset({"text", "functionCall"}),
}
ON_THE_GRID = frozenset({"x", "y", "destination_x", "destination_y", "magnitude"})
ACKNOWLEDGEMENT = "safety_acknowledgement"
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
VALUES = frozenset({"args", "response", "parametersJsonSchema"})
"""Fields whose content is not the protocol's."""


def read_request(model: str, stream: bool, body: object, measure: Measure) -> Request:
    """Validate the body of a request and return the parts that a player needs.

    Raises:
        InvalidRequest: At the first violation of the protocol.
    """
    data = _object(_normal(body), "request")
    _only(data, TOP_KEYS, "request")
    configuration = _object(data.get("generationConfig", {}), "generationConfig")
    _only(configuration, CONFIGURATION_KEYS, "generationConfig")
    most = configuration.get("maxOutputTokens", 1)
    _check(_is_whole(most, 1, MOST_TOKENS), "maxOutputTokens", "must be a whole number")
    reader = _Reader(measure)
    reader.tools(_list(data.get("tools", []), "tools"))
    system = data.get("systemInstruction", {})
    if system:
        _check(bool(reader.texts(system)), "systemInstruction", "must have texts only")
    contents = reader.contents(_list(data.get("contents"), "contents"))
    return Request(
        model,
        stream,
        canonical(contents),
        frozenset(reader.custom),
        reader.computer,
        tuple(reader.pictures),
        system,
        tuple(data.get("tools", [])),
        items=tuple(contents),
    )


class _Reader:
    """Validates one request."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self.custom: set[str] = set()
        self.computer = False
        self.pictures: list[SeenPicture] = []

    def tools(self, items: list[object]) -> None:
        excluded: list[object] = []
        for index, item in enumerate(items):
            where = f"tools.{index}"
            tool = _object(item, where)
            # The provider accepts the two kinds only as separate tools.
            _check(len(tool) == 1, where, "must have one kind of tool")
            _only(tool, {"computerUse", "functionDeclarations"}, where)
            if "computerUse" in tool:
                _check(not self.computer, where, "the computer tool is there twice")
                excluded = self._computer_tool(tool["computerUse"], f"{where}.computerUse")
            for one in _list(tool.get("functionDeclarations", []), where):
                self._declaration(one, f"{where}.functionDeclarations")
        if self.computer:
            clashing = sorted(self.custom & {*FUNCTIONS} - {*map(str, excluded)})
            _check(not clashing, "tools", f"{clashing} are predefined and not excluded")

    def _computer_tool(self, value: object, where: str) -> list[object]:
        tool = _object(value, where)
        _only(tool, COMPUTER_KEYS, where)
        _check(tool.get("environment") in ENVIRONMENTS, f"{where}.environment", "is not known")
        excluded = _list(tool.get("excludedPredefinedFunctions", []), where)
        for name in excluded:
            known = name in FUNCTIONS or name in OLD_FUNCTIONS
            _check(known, where, f"there is no predefined function {name!r}")
        self.computer = True
        return excluded

    def _declaration(self, value: object, where: str) -> None:
        tool = _object(value, where)
        _only(tool, {"name", "description", "parametersJsonSchema"}, where)
        name = _string(tool, "name", where)
        _check(NAME.fullmatch(name) is not None, f"{where}.name", "has characters not allowed")
        _check(name not in self.custom, f"{where}.name", "tool names must be unique")
        schema = _object(tool.get("parametersJsonSchema"), f"{where}.parametersJsonSchema")
        _check(schema.get("type") == "object", f"{where}.parametersJsonSchema", "must be object")
        self.custom.add(name)

    def texts(self, value: object) -> bool:
        content = _object(value, "systemInstruction")
        parts = _list(content.get("parts"), "systemInstruction.parts")
        return bool(parts) and all(isinstance(p, dict) and set(p) == {"text"} for p in parts)

    def contents(self, items: list[object]) -> list[Json]:
        _check(bool(items), "contents", "at least one content is required")
        contents: list[Json] = []
        calls: list[Json] = []
        for index, item in enumerate(items):
            where = f"contents.{index}"
            content = self._content(item, where)
            self._answered(calls, content, where)
            calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
            before = contents[-1]["role"] if contents else "model"
            _check(content["role"] == "user" or before == "user", where, "must be of the user")
            contents.append(content)
        _check(contents[-1]["role"] == "user", "contents", "the last must be of the user")
        return contents

    def _content(self, item: object, where: str) -> Json:
        content = _object(item, where)
        _only(content, {"role", "parts"}, where)
        role = content.get("role")
        _check(role in PART_KINDS, f"{where}.role", "must be user or model")
        parts = _list(content.get("parts"), f"{where}.parts")
        _check(bool(parts), f"{where}.parts", "must not be empty")
        for index, part in enumerate(parts):
            self._part(_object(part, where), str(role), f"{where}.parts.{index}")
        return {"role": role, "parts": parts}

    def _part(self, part: Json, role: str, where: str) -> None:
        kinds = set(part) & PART_KINDS[role]
        _check(len(kinds) == 1, where, f"must have one of {', '.join(sorted(PART_KINDS[role]))}")
        own = {"thought", "thoughtSignature"} if role == "model" else set()
        _only(part, kinds | own, where)
        if "thoughtSignature" in part:
            _decoded(part, "thoughtSignature", where)
        if "text" in part:
            # The part with the signature of a reply may have no text.
            good = isinstance(part["text"], str) and (part["text"] or "thoughtSignature" in part)
            _check(bool(good), where, "text must not be empty")
        elif "inlineData" in part:
            self._picture(part["inlineData"], f"{where}.inlineData")
        elif "functionCall" in part:
            self._call(_object(part["functionCall"], where), f"{where}.functionCall")
        else:
            self._response(_object(part["functionResponse"], where), f"{where}.functionResponse")

    def _call(self, call: Json, where: str) -> None:
        _only(call, {"id", "name", "args"}, where)
        name = _string(call, "name", where)
        arguments = _object(call.get("args", {}), f"{where}.args")
        if self.computer and name in FUNCTIONS and name not in self.custom:
            for key in ON_THE_GRID & set(arguments):
                whole = _is_whole(arguments[key], 0, LAST)
                _check(whole, f"{where}.args.{key}", f"must be a whole number from 0 to {LAST}")

    def _response(self, response: Json, where: str) -> None:
        _only(response, {"id", "name", "response", "parts"}, where)
        _string(response, "name", where)
        _object(response.get("response"), f"{where}.response")
        for index, part in enumerate(_list(response.get("parts", []), where)):
            at = f"{where}.parts.{index}"
            _check(set(_object(part, at)) == {"inlineData"}, at, "must have inlineData")
            self._picture(part["inlineData"], f"{at}.inlineData")

    def _picture(self, value: object, where: str) -> None:
        picture = _object(value, where)
        _only(picture, {"mimeType", "data"}, where)
        data = _decoded(picture, "data", where)
        measured = self._measure(data)
        if measured is None:
            raise InvalidRequest(f"{where}.data", "is no picture")
        declared = picture.get("mimeType")
        _check(declared == measured.media_type, f"{where}.mimeType", "is not what it is")
        self.pictures.append(SeenPicture(data, measured))
        _check(len(self.pictures) <= MOST_PICTURES, where, f"more than {MOST_PICTURES} pictures")

    def _answered(self, calls: list[Json], content: Json, where: str) -> None:
        """Check that a content has exactly the responses to ``calls``, in their order."""
        found = [p["functionResponse"] for p in content["parts"] if "functionResponse" in p]
        counts = f"{len(calls)} calls need as many responses, and nothing else"
        alone = len(found) == len(content["parts"]) if calls else not found
        _check(len(found) == len(calls) and alone, where, counts)
        for call, response in zip(calls, found, strict=True):
            same = (response["name"], response.get("id")) == (call["name"], call.get("id"))
            _check(same, where, f"the response of {call.get('id')} is missing or out of order")
            asked = call.get("args", {}).get("safety_decision") or {}
            needed = asked.get("decision") == "require_confirmation"
            given = response["response"].get(ACKNOWLEDGEMENT)
            _check(given in (None, "true"), where, f'{ACKNOWLEDGEMENT} must be "true"')
            _check(needed or given is None, where, f"{ACKNOWLEDGEMENT} was not asked for")
            done = given is not None or "error" in response["response"]
            _check(done or not needed, where, f"the response needs {ACKNOWLEDGEMENT}")


def _normal(value: Any) -> Any:
    """Return JSON with the names of fields in one style, but for values of others."""
    if isinstance(value, list):
        return [_normal(one) for one in value]
    if not isinstance(value, dict):
        return value
    named = {re.sub(r"_([a-z])", lambda m: m[1].upper(), key): one for key, one in value.items()}
    return {key: one if key in VALUES else _normal(one) for key, one in named.items()}


def _decoded(data: Mapping[str, Any], key: str, where: str) -> bytes:
    text = _string(data, key, where)
    try:
        # Both alphabets are valid in the protocol.
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except binascii.Error:
        raise InvalidRequest(f"{where}.{key}", "is not base64") from None


def _check(good: bool, where: str, problem: str) -> None:
    if not good:
        raise InvalidRequest(where, problem)


def _object(value: object, where: str) -> Json:
    if not isinstance(value, dict):
        raise InvalidRequest(where, "must be an object")
    return value


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidRequest(where, "must be a list")
    return value


def _string(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise InvalidRequest(f"{where}.{key}", "must be a text")
    return value


def _is_whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _only(data: Mapping[str, Any], allowed: frozenset[str] | set[str], where: str) -> None:
    for key in data:
        _check(key in allowed, f"{where}.{key}", "is not a key of this object")
