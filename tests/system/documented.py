"""Requests whose answers are compared with the OpenAPI document of the service."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
from jsonschema import Draft202012Validator

from tests.system.services import Json, Service

JSON = "application/json"


class Documented:
    """Sends requests to a service; each answer has to be one that its document describes.

    Members that a schema does not name are errors here, so that the document is complete.
    """

    def __init__(self, service: Service) -> None:
        self._http = service.http
        self.document: Json = service.get("/openapi.json")
        self._strict = _strict(self.document)
        self.seen: set[str] = set()
        """Operations that answered with success."""

    @property
    def operations(self) -> dict[str, str]:
        """Ids by method and path."""
        return {
            f"{method.upper()} {path}": operation["operationId"]
            for path, methods in self.document["paths"].items()
            for method, operation in methods.items()
        }

    def __call__(self, method: str, path: str, **request: Any) -> Any:
        """Send a request and return its JSON, or its bytes."""
        with self._http.stream(method, path, **request) as reply:
            reply.read()
            self._check(reply)
            if reply.content and reply.headers.get("content-type", "").startswith(JSON):
                return reply.json()
            return reply.content

    @contextmanager
    def stream(self, path: str, **request: Any) -> Iterator[httpx2.Response]:
        """Open a stream of events."""
        with self._http.stream("GET", path, **request) as reply:
            self._check(reply)
            yield reply

    def _check(self, reply: httpx2.Response) -> None:
        request = reply.request
        key, operation = self._operation(request.method, request.url.path)
        # 501 answers what this desktop does not have, such as a wallpaper without dialects.
        if reply.is_success or reply.status_code in (426, 501):
            self.seen.add(operation["operationId"])
        answers = operation["responses"]
        status = str(reply.status_code)
        answer = answers.get(status) or answers[f"{status[0]}XX"]
        content = answer.get("content", {})
        kind = reply.headers.get("content-type", "").partition(";")[0]
        # FastAPI sends a media type with each answer, also where there is no body.
        kind = "" if status == "204" else kind
        described = kind in content or ("*/*" in content and reply.is_success)
        assert described if kind else not content, f"{key} {status}: {kind}"
        if kind == JSON:
            schema = {**content[JSON]["schema"], "components": self._strict["components"]}
            for error in Draft202012Validator(schema).iter_errors(reply.json()):
                raise AssertionError(f"{key} {status} at {error.json_path}: {error.message[:500]}")

    def _operation(self, method: str, path: str) -> tuple[str, Json]:
        found = [
            (f"{method} {template}", methods[method.lower()])
            for template, methods in self._strict["paths"].items()
            if method.lower() in methods and re.fullmatch(_pattern(template), path)
        ]
        # The path without parameters is that of the route, as with the routes themselves.
        key, operation = min(found, key=lambda one: one[0].count("{"))
        return key, operation


def _pattern(template: str) -> str:
    return "".join(
        "[^/]+" if part.startswith("{") else re.escape(part)
        for part in re.split(r"({\w+})", template)
    )


def _strict(value: Any) -> Any:
    if isinstance(value, list):
        return [_strict(item) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {name: _strict(item) for name, item in value.items()}
    if inner.get("type") == "object" and "properties" in inner:
        inner.setdefault("additionalProperties", False)
    return inner
