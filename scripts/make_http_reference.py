"""Write docs/http-reference.md, the reference of the HTTP routes, from the OpenAPI documents.

Usage: python -m scripts.make_http_reference

It starts a control plane and a desktop in a directory of their own, and reads their documents.
"""

import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "http-reference.md"
SERVICES = {"Control plane": ("up",), "Desktop": ("desktop",)}
INTRODUCTION = """# HTTP routes

This page is made of the OpenAPI documents by `python -m scripts.make_http_reference`. A running
control plane serves its document at `/openapi.json`, and `/try` sends requests from the browser.
How to begin is in [http.md](http.md).

The routes of a desktop are those of its own service. A control plane serves them below
`/api/v0/desktops/ID`: the route `/api/v0/desktop/action` of a desktop is
`/api/v0/desktops/ID/desktop/action` there.
"""

Json = dict[str, Any]


def page(documents: dict[str, Json]) -> str:
    """Return the text of the page; ``documents`` are OpenAPI documents by the names of services."""
    parts = [INTRODUCTION]
    for name, document in documents.items():
        parts.append(f"## {name}\n")
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                parts += _operation(f"{method.upper()} {path}", operation, document)
    return "\n".join(parts)


def _operation(title: str, operation: Json, document: Json) -> Iterator[str]:
    yield f"### `{title}`\n"
    if text := operation.get("description") or operation.get("summary"):
        yield f"{_prose(text)}\n"
    rows = [
        (f"{one['name']} ({one['in']})", one.get("schema", {}), one.get("description", ""))
        for one in (_resolved(each, document) for each in operation.get("parameters", ()))
    ]
    for content in _resolved(operation.get("requestBody", {}), document).get("content", {}).items():
        media_type, body = content
        schema = _resolved(body.get("schema", {}), document)
        fields = schema.get("properties", {})
        if not fields:
            rows.append((f"body ({media_type})", schema, ""))
        rows += [(f"{key} (body)", one, one.get("description", "")) for key, one in fields.items()]
    if rows:
        yield "| parameter | type | meaning |\n| --- | --- | --- |"
        for key, schema, meaning in rows:
            yield f"| `{key}` | {_type(schema, document)} | {_cell(meaning)} |"
        yield ""
    yield f"Answers: {', '.join(operation['responses'])}.\n"


def _resolved(value: Json, document: Json) -> Json:
    while "$ref" in value:
        found: Any = document
        for part in value["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        value = found
    return value


def _type(schema: Json, document: Json) -> str:
    schema = _resolved(schema, document)
    if "enum" in schema:
        return _cell(", ".join(f"`{json.dumps(one)}`" for one in schema["enum"]))
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(_type(one, document) for one in choices))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}), document)}"
    return kind if isinstance(kind, str) else " or ".join(kind)


def _prose(text: str) -> str:
    # Braces and angle brackets of descriptions are text, not markup.
    return "\n".join(line.rstrip() for line in text.strip().splitlines()).replace("<", "&lt;")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def documents() -> dict[str, Json]:
    """Return the document of each service, which runs only for that."""
    return {name: _document(words) for name, words in SERVICES.items()}


def _document(words: tuple[str, ...]) -> Json:
    with tempfile.TemporaryDirectory() as folder:
        data = ("--data-dir", folder) if words == ("up",) else ()
        command = [str(Path(sys.executable).with_name("deskhand")), *words, *data]
        with subprocess.Popen(
            [*command, "--listen", "127.0.0.1:0", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                ready = json.loads(next(iter(process.stdout or ())))
                return _fetched(ready["url"], ready["token"])
            finally:
                process.terminate()


def _fetched(url: str, token: str) -> Json:
    request = urllib.request.Request(  # noqa: S310 - an address of this machine
        f"{url}/openapi.json", headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        found: Json = json.load(answer)
    return found


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(documents()).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
