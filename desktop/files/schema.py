"""OpenAPI schemas of the requests of the file routes."""

from typing import Any

from deskhand.desktop.tool_calls.schema import CALL_HEADERS

from .search_query import LONGEST_PATTERN, MOST, MOST_GLOBS, USUAL_LIMIT

Json = dict[str, Any]

_TEXT: Json = {"type": "string"}
_FLAG: Json = {"type": "boolean", "default": False}
_GLOB: Json = {"type": "string", "pattern": "^[^\\x00]+$"}
_COUNT: Json = {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}


def _said(schema: Json, description: str) -> Json:
    return {**schema, "description": description}


def _answer(media_type: str, description: str) -> Json:
    content = {media_type: {"schema": _TEXT}}
    return {"responses": {"200": {"description": description, "content": content}}}


_PATH = _said(
    {**_TEXT, "pattern": "^(/[^\\x00]*|~(/[^\\x00]*)?)$"},
    "Absolute path; ~ at its start is the home of the agent.",
)
_FILE = _said(
    {**_TEXT, "pattern": "^(~/+)?/?[^/\\x00][^\\x00]*$"},
    "Absolute path of a file; ~ at its start is the home of the agent.",
)


def _body(needed: list[str], fields: Json) -> Json:
    closed = {"type": "object", "additionalProperties": False}
    schema = {**closed, "required": needed, "properties": fields}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _query(needed: list[str], fields: Json) -> Json:
    return {
        "parameters": [
            {"name": name, "in": "query", "required": name in needed, "schema": schema}
            for name, schema in fields.items()
        ]
    }


READ = _query(
    ["path"],
    {
        "path": _FILE,
        "offset": _said(_COUNT, "First byte."),
        "limit": _said(_COUNT, "How many bytes; 0: to the end."),
    },
) | _answer("*/*", "The bytes, of a type that a browser does not run.")
READ_LINES = _query(
    ["path"],
    {
        "path": _FILE,
        "offset": _said(_COUNT, "First line, from 1 on."),
        "limit": _said(_COUNT, "How many lines; 0: as many as fit."),
        "partial": _said(_FLAG, "Answer with what fits rather than with an error."),
        # The defaults of `requests.lines_query` and `lines.Bounds`.
        "max_file_size": {**_COUNT, "default": 1_048_576},
        "max_line_bytes": {**_COUNT, "default": 1_024},
        "max_response_lines": {**_COUNT, "default": 2_000},
        "max_response_bytes": {**_COUNT, "default": 32_768},
    },
)
RESOLVE = _query(["path"], {"path": _PATH})
WATCH = _query(
    ["path"], {"path": _PATH, "recursive": {"type": "boolean", "default": True}}
) | _answer("text/event-stream", "Changes, until either side ends it.")
LIST: Json = _query([], {"path": _PATH}) | _body(
    [],
    {
        "path": {"type": "array", "items": _TEXT, "description": "Parts of the path."},
        "relativity": {"type": "string", "enum": ["home", "root"], "default": "home"},
    },
)
LIST["requestBody"]["required"] = False
SEARCH = _body(
    ["path"],
    {
        "path": _said({**_TEXT, "pattern": "^/[^\\x00]*$"}, "Absolute directory, or one file."),
        "pattern": {
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_PATTERN,
            "description": "Regular expression; without one files are listed by the glob.",
        },
        "glob": {
            "oneOf": [
                _GLOB,
                {"type": "array", "items": _GLOB, "minItems": 1, "maxItems": MOST_GLOBS},
            ],
            "description": "Which files, as in .gitignore; with ! in front which not.",
        },
        "literal": _said(_FLAG, "The pattern is plain text."),
        "ignore_case": _FLAG,
        "offset": {**_COUNT, "default": 0},
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL_LIMIT},
    },
)
_SCHEMA = SEARCH["requestBody"]["content"]["application/json"]["schema"]
# Generators of clients read an `anyOf` as a union of types, and ignore `if`.
_SCHEMA |= {"if": {"not": {"required": ["pattern"]}}, "then": {"required": ["glob"]}}
_HASH = '"[0-9a-f]{64}"'
_TAG = _said(
    {**_TEXT, "pattern": f"^([*]|{_HASH}(, {_HASH})*)$"}, "Content hashes (SHA-256), or *."
)
_BYTES: Json = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
WRITE: Json = {
    "requestBody": {"required": True, "content": _BYTES},
    "parameters": [
        *_query(["path"], {"path": _PATH})["parameters"],
        {"name": "If-Match", "in": "header", "schema": _TAG},
        {"name": "If-None-Match", "in": "header", "schema": _TAG},
        *CALL_HEADERS,
    ],
}
UPLOAD: Json = {
    "requestBody": {"required": True, "content": _BYTES},
    "parameters": _query(
        ["name"],
        {
            "name": _said(
                {**_TEXT, "minLength": 1, "pattern": "^[^/\\x00]+$"}, "Name of the file."
            ),
            "viewer": _said(_TEXT, "Key of the live view's page that asks."),
        },
    )["parameters"],
}
STATUS = _query(["path"], {"path": _PATH})
MAKE: Json = {"parameters": [*STATUS["parameters"], *CALL_HEADERS]}
APPEND: Json = MAKE | {"requestBody": {"required": True, "content": _BYTES}}
REMOVE = _query(["path"], {"path": _PATH, "recursive": _said(_FLAG, "With all that is in it.")})
REMOVE["parameters"] += CALL_HEADERS
_EDIT: Json = {
    "type": "object",
    "required": ["old_text", "new_text"],
    "additionalProperties": False,
    "properties": {"old_text": _TEXT, "new_text": _TEXT, "replace_all": _FLAG},
}
EDIT = _body(
    ["files"],
    {
        "files": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["path", "edits"],
                "additionalProperties": False,
                "properties": {
                    "path": _FILE,
                    "edits": {"type": "array", "minItems": 1, "items": _EDIT},
                },
            },
        },
        "include_diff": _FLAG,
    },
)
EDIT["parameters"] = CALL_HEADERS
EDIT["parameters"] = CALL_HEADERS
