"""Strict validation of requests of ``generateContent`` (https://ai.google.dev/api/generate-content).

The provider accepts some of what is refused here, as a content with responses and texts. Names of
fields may be written in both styles, as the official client mixes them; they are read in one.

Each function call is answered in order, in the next content, which has nothing else. Points are on
the grid. A call that needs the confirmation of a person is answered with an acknowledgement, or
with an error.
"""

import re
from collections.abc import Mapping
from typing import Any

from deskhand.tools.agents.providers.gemini.functions import FUNCTIONS, OLD_FUNCTIONS
from deskhand.tools.agents.providers.gemini.grid import LAST
from deskhand.tools.agents.scripted.script.reading import (
    check,
    check_keys,
    is_whole,
    read_base64,
    read_list,
    read_object,
    read_picture,
    read_string,
)
from deskhand.tools.agents.scripted.script.request import Measure, Request, SeenPicture

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
LEVELS = ("MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH")
"""Values of ``thinkingLevel``."""
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
    data = read_object(_normal(body), "request")
    check_keys(data, TOP_KEYS, "request")
    configuration = read_object(data.get("generationConfig", {}), "generationConfig")
    check_keys(configuration, CONFIGURATION_KEYS, "generationConfig")
    most = configuration.get("maxOutputTokens", 1)
    check(is_whole(most, 1, MOST_TOKENS), "maxOutputTokens", "must be a whole number")
    _check_thinking(configuration.get("thinkingConfig", {}))
    reader = _Reader(measure)
    reader.tools(read_list(data.get("tools", []), "tools"))
    system = data.get("systemInstruction", {})
    if system:
        check(bool(reader.texts(system)), "systemInstruction", "must have texts only")
    contents = reader.contents(read_list(data.get("contents"), "contents"))
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
            tool = read_object(item, where)
            # The provider accepts the two kinds only as separate tools.
            check(len(tool) == 1, where, "must have one kind of tool")
            check_keys(tool, {"computerUse", "functionDeclarations"}, where)
            if "computerUse" in tool:
                check(not self.computer, where, "the computer tool is there twice")
                excluded = self._computer_tool(tool["computerUse"], f"{where}.computerUse")
            for one in read_list(tool.get("functionDeclarations", []), where):
                self._declaration(one, f"{where}.functionDeclarations")
        if self.computer:
            clashing = sorted(self.custom & {*FUNCTIONS} - {*map(str, excluded)})
            check(not clashing, "tools", f"{clashing} are predefined and not excluded")

    def _computer_tool(self, value: object, where: str) -> list[object]:
        tool = read_object(value, where)
        check_keys(tool, COMPUTER_KEYS, where)
        check(tool.get("environment") in ENVIRONMENTS, f"{where}.environment", "is not known")
        excluded = read_list(tool.get("excludedPredefinedFunctions", []), where)
        for name in excluded:
            known = name in FUNCTIONS or name in OLD_FUNCTIONS
            check(known, where, f"there is no predefined function {name!r}")
        self.computer = True
        return excluded

    def _declaration(self, value: object, where: str) -> None:
        tool = read_object(value, where)
        check_keys(tool, {"name", "description", "parametersJsonSchema"}, where)
        name = read_string(tool, "name", where)
        check(NAME.fullmatch(name) is not None, f"{where}.name", "has characters not allowed")
        check(name not in self.custom, f"{where}.name", "tool names must be unique")
        schema = read_object(tool.get("parametersJsonSchema"), f"{where}.parametersJsonSchema")
        check(schema.get("type") == "object", f"{where}.parametersJsonSchema", "must be object")
        self.custom.add(name)

    def texts(self, value: object) -> bool:
        content = read_object(value, "systemInstruction")
        parts = read_list(content.get("parts"), "systemInstruction.parts")
        return bool(parts) and all(isinstance(p, dict) and set(p) == {"text"} for p in parts)

    def contents(self, items: list[object]) -> list[Json]:
        check(bool(items), "contents", "at least one content is required")
        contents: list[Json] = []
        calls: list[Json] = []
        for index, item in enumerate(items):
            where = f"contents.{index}"
            content = self._content(item, where)
            self._answered(calls, content, where)
            calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
            before = contents[-1]["role"] if contents else "model"
            check(content["role"] == "user" or before == "user", where, "must be of the user")
            contents.append(content)
        check(contents[-1]["role"] == "user", "contents", "the last must be of the user")
        return contents

    def _content(self, item: object, where: str) -> Json:
        content = read_object(item, where)
        check_keys(content, {"role", "parts"}, where)
        role = content.get("role")
        check(role in PART_KINDS, f"{where}.role", "must be user or model")
        parts = read_list(content.get("parts"), f"{where}.parts")
        check(bool(parts), f"{where}.parts", "must not be empty")
        for index, part in enumerate(parts):
            self._part(read_object(part, where), str(role), f"{where}.parts.{index}")
        return {"role": role, "parts": parts}

    def _part(self, part: Json, role: str, where: str) -> None:
        kinds = set(part) & PART_KINDS[role]
        check(len(kinds) == 1, where, f"must have one of {', '.join(sorted(PART_KINDS[role]))}")
        own = {"thought", "thoughtSignature"} if role == "model" else set()
        check_keys(part, kinds | own, where)
        if "thoughtSignature" in part:
            text = _base64_text(part, "thoughtSignature", where)
            read_base64(text, f"{where}.thoughtSignature")
        if "text" in part:
            # The part with the signature of a reply may have no text.
            good = isinstance(part["text"], str) and (part["text"] or "thoughtSignature" in part)
            check(bool(good), where, "text must not be empty")
        elif "inlineData" in part:
            self._picture(part["inlineData"], f"{where}.inlineData")
        elif "functionCall" in part:
            self._call(read_object(part["functionCall"], where), f"{where}.functionCall")
        else:
            self._response(
                read_object(part["functionResponse"], where), f"{where}.functionResponse"
            )

    def _call(self, call: Json, where: str) -> None:
        check_keys(call, {"id", "name", "args"}, where)
        name = read_string(call, "name", where)
        arguments = read_object(call.get("args", {}), f"{where}.args")
        if self.computer and name in FUNCTIONS and name not in self.custom:
            for key in ON_THE_GRID & set(arguments):
                whole = is_whole(arguments[key], 0, LAST)
                check(whole, f"{where}.args.{key}", f"must be a whole number from 0 to {LAST}")

    def _response(self, response: Json, where: str) -> None:
        check_keys(response, {"id", "name", "response", "parts"}, where)
        read_string(response, "name", where)
        read_object(response.get("response"), f"{where}.response")
        for index, part in enumerate(read_list(response.get("parts", []), where)):
            at = f"{where}.parts.{index}"
            check(set(read_object(part, at)) == {"inlineData"}, at, "must have inlineData")
            self._picture(part["inlineData"], f"{at}.inlineData")

    def _picture(self, value: object, where: str) -> None:
        picture = read_object(value, where)
        check_keys(picture, {"mimeType", "data"}, where)
        seen = read_picture(_base64_text(picture, "data", where), self._measure, f"{where}.data")
        declared = picture.get("mimeType")
        check(declared == seen.measured.media_type, f"{where}.mimeType", "is not what it is")
        self.pictures.append(seen)
        check(len(self.pictures) <= MOST_PICTURES, where, f"more than {MOST_PICTURES} pictures")

    def _answered(self, calls: list[Json], content: Json, where: str) -> None:
        """Check that a content has exactly the responses to ``calls``, in their order."""
        found = [p["functionResponse"] for p in content["parts"] if "functionResponse" in p]
        counts = f"{len(calls)} calls need as many responses, and nothing else"
        alone = len(found) == len(content["parts"]) if calls else not found
        check(len(found) == len(calls) and alone, where, counts)
        for call, response in zip(calls, found, strict=True):
            same = (response["name"], response.get("id")) == (call["name"], call.get("id"))
            check(same, where, f"the response of {call.get('id')} is missing or out of order")
            asked = call.get("args", {}).get("safety_decision") or {}
            needed = asked.get("decision") == "require_confirmation"
            given = response["response"].get(ACKNOWLEDGEMENT)
            check(given in (None, "true"), where, f'{ACKNOWLEDGEMENT} must be "true"')
            check(needed or given is None, where, f"{ACKNOWLEDGEMENT} was not asked for")
            done = given is not None or "error" in response["response"]
            check(done or not needed, where, f"the response needs {ACKNOWLEDGEMENT}")


def _check_thinking(value: object) -> None:
    thinking = read_object(value, "thinkingConfig")
    check_keys(thinking, {"includeThoughts", "thinkingLevel", "thinkingBudget"}, "thinkingConfig")
    level = thinking.get("thinkingLevel")
    known = level is None or level in LEVELS
    check(known, "thinkingConfig.thinkingLevel", f"must be one of {', '.join(LEVELS)}")
    both = level is not None and "thinkingBudget" in thinking
    check(not both, "thinkingConfig", "takes a level or a budget, not both")


def _normal(value: Any) -> Any:
    """Return JSON with the names of fields in one style, but for values of others."""
    if isinstance(value, list):
        return [_normal(one) for one in value]
    if not isinstance(value, dict):
        return value
    named = {re.sub(r"_([a-z])", lambda m: m[1].upper(), key): one for key, one in value.items()}
    return {key: one if key in VALUES else _normal(one) for key, one in named.items()}


def _base64_text(data: Mapping[str, Any], key: str, where: str) -> str:
    # Both alphabets are valid in the protocol.
    return read_string(data, key, where).replace("-", "+").replace("_", "/")
