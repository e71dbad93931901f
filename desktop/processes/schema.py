"""OpenAPI schemas of the requests of the process routes."""

from typing import Any

from deskhand.desktop.tool_calls.schema import CALL_HEADERS
from deskhand.vncbridge.openapi.schemas import component

from .requests import LARGEST_TERMINAL, LONGEST_WAIT_MS, SIGNALS

Json = dict[str, Any]

_TEXT: Json = {"type": "string"}
_FLAG: Json = {"type": "boolean", "default": False}
_COUNT: Json = {"type": "integer", "minimum": 0}
_SIDE: Json = {"type": "integer", "minimum": 1, "maximum": LARGEST_TERMINAL}
_SIZE: Json = {"rows": {**_SIDE, "default": 24}, "columns": {**_SIDE, "default": 80}}


def _described(schema: Json, description: str) -> Json:
    return {**schema, "description": description}


def _body(needed: list[str], fields: Json) -> Json:
    closed = {"type": "object", "additionalProperties": False}
    schema = {**closed, "required": needed, "properties": fields}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _query(fields: Json) -> Json:
    return {
        "parameters": [
            {"name": name, "in": "query", "required": False, "schema": schema}
            for name, schema in fields.items()
        ]
    }


START = _body(
    ["command"],
    {
        "command": _described(
            {**_TEXT, "minLength": 1, "pattern": "^[^\\x00]+$"},
            "Run by sh -c, in a session of its own.",
        ),
        "workdir": _described(
            {**_TEXT, "pattern": "^[^\\x00]*$"},
            "~ at its start is the home. Default: the configured directory, else the home.",
        ),
        "env": {"type": "object", "additionalProperties": _TEXT},
        "background": _described(_FLAG, "Recorded and listed; changes nothing."),
        "timeout_ms": _described(_COUNT, "How long the caller means to wait; nothing is ended."),
        "name": _described(_TEXT, "Shown in lists, made unique."),
        "output_path": _described(
            {**_TEXT, "pattern": "^/[^\\x00]*$"},
            "Absolute file that output is added to, up to 64 MiB.",
        ),
        "stdin": _described(_FLAG, "Keep the input open for POST {id}/input."),
        "pty": {
            "description": "Run it in a terminal; an object gives its size.",
            "oneOf": [
                _FLAG,
                component(
                    "TerminalSize",
                    {"type": "object", "additionalProperties": False, "properties": _SIZE},
                ),
            ],
        },
        **_SIZE,
        "tool_call_id": _described(_TEXT, "Run once by this id; the header goes before."),
        "call_age_ms": _described(_COUNT, "How long ago the call was first sent."),
    },
)
START["parameters"] = CALL_HEADERS
START["responses"] = {
    "409": {"description": "The call's id was used otherwise, or its outcome is not known."},
    "500": {"description": "The system would not start it: no such directory, or no shell."},
}
SIGNAL = _body(
    ["signal"],
    {
        "signal": {"type": "string", "enum": list(SIGNALS)},
        "escalate_after_ms": _described(
            {"type": "integer"}, "Kill what is left then; up to 0: never."
        ),
    },
)
INPUT = _body([], {"data": _TEXT, "close": _described(_FLAG, "This was all of the input.")})
RESIZE = _body([], _SIZE)
_NUMBER: Json = {**_COUNT, "maximum": 10**18 - 1}
LIST = _query(
    {
        "offset": _NUMBER,
        "limit": _described({**_NUMBER, "default": 10}, "No more than 200 are given."),
    }
)
OUTPUT = _query(
    {
        "wait": _described(_FLAG, "Answer when it has exited."),
        "wait_for": {"type": "string", "enum": ["exit", "output"]},
        "timeout_ms": {**_COUNT, "maximum": LONGEST_WAIT_MS, "default": LONGEST_WAIT_MS},
        "timeout_from_execute": _described(_FLAG, "Wait no longer than the start's timeout_ms."),
        "newest": _described(
            _FLAG,
            "Leave out frames that carriage returns overwrote; keep the end of the last line.",
        ),
        "cursor": _described(_NUMBER, "Give output from this byte on rather than head and tail."),
        "limit": _described(
            {"type": "integer", "minimum": 1},
            "Most bytes: with cursor 32,768, and 65,536 at most; with raw 67,108,864.",
        ),
        "raw": _described(_FLAG, "Give the bytes of all of it, or those of the header Range."),
    }
)
_EVENTS: Json = {"text/event-stream": {"schema": _TEXT}}
STREAM = _query({"cursor": _described(_NUMBER, "Byte to begin at; Last-Event-ID goes before.")}) | {
    "responses": {"200": {"description": "Output, until it has exited.", "content": _EVENTS}}
}


def _headers(fields: Json, needed: list[str]) -> Json:
    return {
        "parameters": [
            {"name": f"Deskhand-{name}", "in": "header", "required": name in needed, "schema": kind}
            for name, kind in fields.items()
        ]
    }


_CALLER: Json = {
    "Chat-Id": {"type": "string", "format": "uuid"},
    "Tool-Call-Message-Id": _described(_COUNT, "The chat's message that the call stands in."),
    "Tool-Call-Age-Ms": _described(_COUNT, "How long ago the call was first sent."),
}
CANCEL = _headers(_CALLER, ["Chat-Id"])
CANCEL_PROCESS = _headers({**_CALLER, "Tool-Call-Id": _TEXT}, ["Chat-Id", "Tool-Call-Id"])
