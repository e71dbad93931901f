"""The routes under ``/api/v0/desktop`` that start, stop, list and serve recordings."""

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

from anyio import to_thread
from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from deskhand.recording.errors import (
    DiskFull,
    InvalidRecordingId,
    NoSuchMoment,
    NotInRecording,
    RecorderClosed,
    RecordingError,
    StillRecording,
    TooManyRecordings,
    UnknownRecording,
)
from deskhand.recording.library.catalog import Catalog, checked
from deskhand.recording.pipeline.recorder import Recorder, StoredRecording
from deskhand.recording.step import Step
from deskhand.vncbridge.http import caller_headers
from deskhand.vncbridge.http.file_response import (
    SAFE,
    bytes_response,
    file_response,
    open_file_response,
    openapi_responses,
    unchanged_response,
)
from deskhand.vncbridge.http.lazy_routes import LazyRouter
from deskhand.vncbridge.http.multipart import MultipartBody, body_part

PREFIX = "/api/v0/desktop"

CUT_AT_ONCE = 2
"""Clips and pictures that are made concurrently."""

LONGEST_LABEL = 2000
LAST_SECOND = 1e11
"""Limit of times since 1970, so that times in milliseconds are rejected."""

_STOPPED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "It has ended; its files come at once where Accept asks for them.",
        "content": {"multipart/mixed": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_FIELDS = ("recording_id", "label")

# The catalog checks the id, as the message of its refusal is part of the API.
RecordingId = Annotated[str, PathParameter(json_schema_extra={"format": "uuid"})]
Result = TypeVar("Result")


class StepReport(BaseModel):
    """A step that another service made; times in seconds since 1970."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tool_call_id: str = Field(default="", max_length=200)
    chat_id: str = Field(default="", max_length=200)
    tool: str = Field(default="", max_length=200)
    title: str = Field(default="", max_length=2000)
    started: float = Field(ge=0, lt=LAST_SECOND, allow_inf_nan=False)
    ended: float = Field(ge=0, lt=LAST_SECOND, allow_inf_nan=False)
    error: str | None = Field(default=None, max_length=10_000)


async def _written() -> None:
    """Return at once: without a step log there are no pending steps."""


def router(
    recorder: Recorder,
    catalog: Catalog,
    closing: Callable[[], bool],
    written: Callable[[], Awaitable[None]] = _written,
) -> APIRouter:
    """Return the routes; once ``closing`` returns True, start and stop are refused.

    ``written`` waits until the steps of all actions so far are written.
    """
    routes = _Routes(recorder, catalog, closing, written)
    api = LazyRouter(prefix=PREFIX, tags=["recording"])
    post: dict[str, Any] = {"methods": ["POST"], "openapi_extra": _ASKED}
    api.add_api_route("/recording/start", routes.start, **post)
    api.add_api_route(
        "/recording/stop", routes.stop, response_model=None, responses=_STOPPED, **post
    )
    api.add_api_route("/recordings", routes.list, methods=["GET"])
    one = "/recordings/{recording_id}"
    api.add_api_route(one, routes.get, methods=["GET"])
    api.add_api_route(one, routes.delete, methods=["DELETE"], status_code=204)
    api.add_api_route(f"{one}/steps", routes.note, methods=["POST"], status_code=204)
    # HEAD: players request the length and the support of byte ranges before they read.
    for part, serve, responses in (
        ("video", routes.video, openapi_responses("video/mp4")),
        ("thumbnail", routes.thumbnail, openapi_responses("image/jpeg")),
        ("clip", routes.clip, openapi_responses("video/mp4")),
        (
            "steps/{index}/picture",
            routes.step_picture,
            openapi_responses("image/jpeg", in_ranges=False),
        ),
        ("steps.vtt", routes.steps_vtt, openapi_responses("text/vtt", in_ranges=False)),
    ):
        # One route for each method, because FastAPI derives the operation id from one method.
        for method in ("GET", "HEAD"):
            api.add_api_route(
                f"{one}/{part}",
                serve,
                methods=[method],
                response_class=Response,
                responses=responses,
            )
    return api


class _Routes:
    def __init__(
        self,
        recorder: Recorder,
        catalog: Catalog,
        closing: Callable[[], bool],
        written: Callable[[], Awaitable[None]],
    ) -> None:
        self._recorder = recorder
        self._catalog = catalog
        self._closing = closing
        self._written = written
        # Requests for old recordings must not take the processor from the desktop.
        self._cutting = asyncio.Semaphore(CUT_AT_ONCE)

    async def start(self, request: Request) -> dict[str, str]:
        """Begin to record; a recording that runs already goes on."""
        recording_id, label = await self._parse_body(request)
        await _answer("Failed to start recording.", self._recorder.start, recording_id, label)
        return {"message": "Recording started."}

    async def stop(self, request: Request) -> Response:
        """End a recording; the answer has the places of its files, or on request the files."""
        recording_id, _ = await self._parse_body(request)
        failed = "Failed to stop recording."
        # The last actions may still wait in the step log.
        await self._written()
        stored = await _answer(failed, self._recorder.stop, recording_id)
        if "multipart/mixed" in request.headers.get("accept", ""):
            body = await _answer(failed, _files, stored)
            return StreamingResponse(
                body.chunks(),
                media_type=body.media_type,
                headers=SAFE | {"Content-Length": str(body.length)},
            )
        facts = await _answer(failed, self._catalog.get, recording_id)
        return JSONResponse({"message": "Recording stopped."} | facts)

    async def list(self) -> dict[str, Any]:
        """All recordings of this desktop, newest first."""
        return {"recordings": await _answer("Failed to list recordings.", self._catalog.list)}

    async def get(self, recording_id: RecordingId) -> dict[str, Any]:
        """A recording with its steps and its map of real to video time."""
        return await _answer("Failed to read recording.", self._catalog.get, recording_id)

    async def delete(self, recording_id: RecordingId, take: int | None = None) -> None:
        """Remove a recording that has ended, or one take of it."""
        failed = "Failed to delete recording."
        await _answer(failed, self._recorder.delete, recording_id, take)

    async def note(self, recording_id: RecordingId, report: StepReport, request: Request) -> None:
        """Add a step that this desktop did not see itself."""
        chat = caller_headers.text(request.headers, caller_headers.CHAT)
        # The chat of the request's header applies unless the report names one.
        fields = report.model_dump() | {"chat_id": report.chat_id or chat}
        # The reporting service's clock may have been set back during the step.
        step = Step(**fields | {"ended": max(report.started, report.ended)})
        failed = "Failed to add step."
        await _answer(failed, self._catalog.latest_session, recording_id)
        await _answer(failed, self._recorder.add_reported_step, step)

    async def video(
        self, recording_id: RecordingId, request: Request, part: int | None = None
    ) -> Response:
        """The video, or one part of it; byte ranges are served."""
        failed = "Failed to read recording."
        path = await _answer(failed, self._catalog.video, recording_id, part)
        return await _media(failed, request, path, "video/mp4", "recording")

    async def thumbnail(self, recording_id: RecordingId, request: Request) -> Response:
        """A small picture of the most telling moment."""
        failed = "Failed to read thumbnail."
        path = await _answer(failed, self._catalog.thumbnail, recording_id)
        return await _media(failed, request, path, "image/jpeg", "thumbnail")

    async def clip(
        self,
        recording_id: RecordingId,
        request: Request,
        start: Annotated[float, Query(alias="from", ge=0, allow_inf_nan=False)] = 0.0,
        end: Annotated[float | None, Query(alias="to", allow_inf_nan=False)] = None,
    ) -> Response:
        """A stretch of the video, in seconds of video, cut without encoding anything again."""
        failed = "Failed to cut clip."
        tag = await _answer(failed, self._catalog.clip_tag, recording_id, start, end)
        name = f"clip-{checked(recording_id)}.mp4"
        unchanged = unchanged_response(request, name, tag)
        if unchanged is not None:
            return unchanged
        async with self._cutting:
            clip = await _answer(failed, self._catalog.clip, recording_id, start, end)
        return open_file_response(request, clip.file, "video/mp4", name, clip.tag)

    async def step_picture(
        self, recording_id: RecordingId, index: int, request: Request
    ) -> Response:
        """A small picture of the screen when a step had ended."""
        failed = "Failed to read step."
        async with self._cutting:
            data = await _answer(failed, self._catalog.step_picture, recording_id, index)
        return bytes_response(request, data, "image/jpeg")

    async def steps_vtt(self, recording_id: RecordingId, request: Request) -> Response:
        """The steps as chapters of the video."""
        failed = "Failed to read steps."
        text = await _answer(failed, self._catalog.steps_vtt, recording_id)
        return bytes_response(request, text.encode(), "text/vtt; charset=utf-8")

    async def _parse_body(self, request: Request) -> tuple[str, str]:
        if self._closing():
            _refuse(503, "Desktop API is shutting down.")
        try:
            body = json.loads(await request.body())
            # JSON may contain a lone surrogate, which cannot be encoded as UTF-8 for a file.
            json.dumps(body, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            _refuse(400, "Failed to decode request body.")
        # An unknown field is an error, otherwise a misspelt `label` would be lost silently.
        unknown = next((name for name in body if name not in _FIELDS), None)
        if unknown is not None:
            _refuse(400, f'Unknown field "{unknown}".', f"there are {', '.join(_FIELDS)}")
        # The checks are written by hand, because their messages are part of the API.
        recording_id, label = body.get("recording_id"), body.get("label")
        # A null label is a missing label.
        label = "" if label is None else label
        if not recording_id:
            _refuse(400, "Missing recording_id.")
        if not isinstance(recording_id, str) or not isinstance(label, str):
            _refuse(400, "Failed to decode request body.")
        if len(label) > LONGEST_LABEL:
            _refuse(400, f'"label" must have at most {LONGEST_LABEL} characters.')
        try:
            return checked(recording_id), label
        except InvalidRecordingId as error:
            _refuse(400, "Invalid recording_id format.", str(error))


async def _answer(failed: str, work: Callable[..., Result], *arguments: object) -> Result:
    """Do blocking work in a thread and translate its errors to HTTP responses."""
    try:
        return await to_thread.run_sync(work, *arguments)
    except InvalidRecordingId as error:
        _refuse(400, "Invalid recording_id format.", str(error))
    # NotInRecording is an UnknownRecording, so its clause comes first.
    except NotInRecording as error:
        _refuse(404, f"{error.kind.capitalize()} not found.", str(error))
    except UnknownRecording as error:
        _refuse(404, "Recording not found.", str(error))
    except NoSuchMoment as error:
        _refuse(400, failed, str(error))
    except (TooManyRecordings, StillRecording) as error:
        _refuse(409, failed, str(error))
    except RecorderClosed:
        _refuse(503, "Desktop API is shutting down.")
    except DiskFull as error:
        _refuse(507, failed, str(error))
    except (RecordingError, OSError) as error:
        _refuse(500, failed, str(error))


def _refuse(status: int, message: str, detail: str | None = None) -> NoReturn:
    content = {"message": message} | ({"detail": detail} if detail else {})
    raise HTTPException(status, detail=content)


def _files(stored: StoredRecording) -> MultipartBody:
    """Return the first video and the thumbnail of a recording as one multipart body."""
    # The protocol of this response has two parts at most; further videos have their own URLs.
    pieces = [body_part("video/mp4", stored.videos[0])]
    if stored.thumbnail is not None:
        pieces.append(body_part("image/jpeg", stored.thumbnail))
    return MultipartBody(pieces, uuid.uuid4().hex)


async def _media(failed: str, request: Request, path: Path, media_type: str, kind: str) -> Response:
    name = f"{kind}-{path.parent.name}-{path.name}"
    try:
        return await file_response(request, path, media_type, name)
    # The recording may be deleted between the lookup and the opening of its file.
    except FileNotFoundError:
        _refuse(404, "Recording not found.", str(UnknownRecording(path.parent.name)))
    except OSError as error:
        _refuse(500, failed, str(error))


_ASKED: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["recording_id"],
                    "properties": {
                        "recording_id": {"type": "string", "format": "uuid"},
                        "label": {"type": ["string", "null"], "maxLength": LONGEST_LABEL},
                    },
                }
            }
        },
    }
}
