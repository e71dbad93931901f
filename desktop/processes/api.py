"""HTTP routes of the process core."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response

from deskhand.desktop.http_errors import answered
from deskhand.desktop.tool_calls.caller import Touched, chat_of, instance_of
from deskhand.desktop.tool_calls.errors import (
    CallRefused,
    MalformedCall,
    OutcomeUnknown,
    ToolCallError,
)
from deskhand.desktop.tool_calls.identity import Identity, identity_of
from deskhand.desktop.tool_calls.journal import Answer
from deskhand.desktop.tool_calls.once import Progress
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import disconnected, run_unless
from deskhand.vncbridge.http.file_response import (
    bytes_response,
    file_response,
    openapi_responses,
)
from deskhand.vncbridge.http.lazy_routes import LazyRoute, LazyRouter
from deskhand.vncbridge.http.sse import EventStreamResponse, EventStreams

from . import schema
from .errors import (
    BadProcessRequest,
    InputClosed,
    NoRoomForOutput,
    NoTerminal,
    NotRunning,
    OutputNotKept,
    StartFailed,
    TooManyOutputStreams,
    UnknownProcess,
)
from .head_tail import RECENT
from .output_stream import output_events
from .record import Record
from .registry import Registry
from .requests import (
    input_request,
    number,
    output_request,
    resize_request,
    signal_request,
    start_request,
)

Json = dict[str, Any]
LONGEST_CURSOR = 18
"""Digits."""
OCTETS = "application/octet-stream"
TOTAL_HEADER = "Deskhand-Total-Bytes"
"""Bytes that a process has written, which may be more than are kept."""


_CONFLICTS: dict[type[ToolCallError], str] = {
    InputClosed: "Process takes no input.",
    NoTerminal: "Process has no terminal.",
    NotRunning: "Process is not running.",
    OutputNotKept: "Not all of the output is kept.",
}


class _Route(LazyRoute):
    """Translates errors of the process core into HTTP answers."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def refusing(request: Request) -> Response:
            try:
                return await handle(request)
            except ToolCallError as error:
                raise _refusal(error) from error

        return refusing


def router(
    registry: Registry,
    streams: EventStreams | None = None,
    instance: str = "",
    check_start: Callable[[], None] = lambda: None,
) -> APIRouter:
    """Return the routes over ``registry``, which belongs to this instance of the service.

    ``check_start`` raises `Occupied` while no command may start.
    """
    routes = LazyRouter(prefix="/api/v0", route_class=_Route, tags=["processes"])
    _add_control(routes, registry, instance, check_start)
    _add_cancels(routes, registry)
    _add_input(routes, registry)
    _add_views(routes, registry)
    _add_streams(routes, registry, streams or EventStreams())
    return routes


def _add_control(
    routes: APIRouter, registry: Registry, instance: str, check_start: Callable[[], None]
) -> None:
    @routes.post("/processes/start", openapi_extra=schema.START)
    async def start(request: Request) -> Json:
        """Start ``sh -c command``; answers as soon as it runs."""
        chat = chat_of(request.headers)
        asked = start_request(await request.body())
        call = identity_of(request.headers, chat, body=asked.tool_call_id, age_ms=asked.call_age_ms)
        registry.once.check_instance(call, instance_of(request.headers), instance)
        # A repetition of a call that has begun starts nothing: it finds its process.
        if not registry.once.knows(call):
            with answered():
                check_start()
        process_id, fresh = await registry.start(asked, chat, call)
        answer: Json = {"id": process_id, "started": True, "attached": not fresh}
        with suppress(UnknownProcess):  # attached to one that was forgotten meanwhile
            record = registry.find(process_id, chat)
            age = _times(registry, record)["age_ms"]
            answer |= {"age_ms": age, "workdir": str(record.workdir)}
            answer |= {"name": record.name} if record.name else {}
            answer |= _copied(record)
        return answer

    @routes.post("/processes/{process_id}/signal", openapi_extra=schema.SIGNAL)
    async def signal(process_id: str, request: Request) -> Json:
        """Signal a process with everything that it started; does not wait for its end."""
        # Before the body, also for an unknown process: an error about the body would otherwise
        # disclose which processes of other chats exist.
        record = registry.find(process_id, chat_of(request.headers))
        asked = signal_request(await request.body())
        await registry.signal(record, asked)
        return {"message": f"Signal {asked.signal} was sent to process {record.id}."}


def _add_cancels(routes: APIRouter, registry: Registry) -> None:
    @routes.post("/tool-calls/{call_id:path}/cancel", openapi_extra=schema.CANCEL)
    async def cancel(call_id: str, request: Request) -> Json:
        """Keep a tool call from starting a process, and kill the one it started."""
        call = identity_of(request.headers, chat_of(request.headers), path=call_id)
        return await canceled(call)

    @routes.post("/processes/{process_id}/cancel", openapi_extra=schema.CANCEL_PROCESS)
    async def cancel_process(process_id: str, request: Request) -> Json:
        """Do the same for the tool call that the headers name; the path is its process."""
        call = identity_of(request.headers, chat_of(request.headers))
        if call is None or call.process_id != process_id:
            raise BadProcessRequest(
                "The headers must name the tool call that started this process."
            )
        return await canceled(call)

    async def canceled(call: Identity | None) -> Json:
        found = await registry.cancel(call) if call is not None else None
        match found:
            case None:
                return {"received": False, "started": False, "canceled": False}
            case Record():
                answer = _answered(200, {"id": found.id, "started": True})
                return answer | _state(found) | _times(registry, found) | _snapshot(found)
            case ToolCallError():
                refusal = _refusal(found)
                begun = {"started": isinstance(found, OutcomeUnknown)}
                return _answered(refusal.status_code, refusal.detail) | begun
            case (status, body):
                return _answered(status, body)


def _answered(status: int, body: Any) -> Json:
    """Return a call's answer, with both field names that the reference has for its status."""
    extra = {"status": status, "status_code": status, "content_type": "application/json"}
    return {"received": True, "started": True, "canceled": False, "body": body} | extra


def _add_input(routes: APIRouter, registry: Registry) -> None:
    @routes.post("/processes/{process_id}/input", openapi_extra=schema.INPUT)
    async def give_input(process_id: str, request: Request) -> Json:
        """Write to the standard input of a process that was started with ``stdin``."""
        record = registry.find(process_id, chat_of(request.headers))
        asked = input_request(await request.body())
        if not await record.process.write(asked.data):
            raise InputClosed(record.id)
        if asked.close:
            await record.process.end_input()
        return {"message": f"{len(asked.data)} bytes were given to process {record.id}."}

    @routes.post("/processes/{process_id}/resize", openapi_extra=schema.RESIZE)
    async def resize(process_id: str, request: Request) -> Json:
        """Give the terminal of a process that was started with ``pty`` another size."""
        record = registry.find(process_id, chat_of(request.headers))
        size = resize_request(await request.body())
        if not record.process.resize(size):
            raise NoTerminal(record.id)
        return {"message": f"The terminal has {size.rows} rows and {size.columns} columns now."}


def _add_views(routes: APIRouter, registry: Registry) -> None:
    @routes.get("/processes/list", openapi_extra=schema.LIST)
    async def listed(request: Request) -> Json:
        """List processes: running ones first, then the newest."""
        offset = number(request.query_params, "offset", 0)
        limit = min(number(request.query_params, "limit", 10) or 10, 200)
        page = registry.listing(chat_of(request.headers), offset, limit)
        return {
            "processes": [_listed(record) for record in page.records],
            "total": page.total,
            "has_more": offset + len(page.records) < page.total,
        }

    @routes.get(
        "/processes/{process_id}/output",
        response_model=None,
        responses=openapi_responses(OCTETS),
        openapi_extra=schema.OUTPUT,
    )
    async def output(process_id: str, request: Request) -> Json | Response:
        """Return what a process wrote, at once or when it has exited."""
        record = registry.find(process_id, chat_of(request.headers))
        asked = output_request(request.query_params)
        if asked.wait_for:
            # No client is left to read the answer, so a wait that was broken off needs no error.
            with suppress(ClientGone):
                await run_unless(registry.wait(record, asked), disconnected(request.receive))
        if asked.raw is not None:
            return await _raw(request, record, asked.raw)
        # State before output: an answer that says "exited" carries all that the shell wrote.
        state = _state(record) | _times(registry, record)
        if asked.cursor is None:
            return state | _snapshot(record, newest=asked.newest)
        chunk = record.process.buffer.read(asked.cursor, asked.limit, whole=record.running)
        return state | {
            "output": chunk.data.decode("utf-8", "replace"),
            "truncated": None,
            "cursor": chunk.cursor,
            "next_cursor": chunk.next_cursor,
            "gap_bytes": chunk.gap_bytes,
            "has_more": chunk.has_more,
        }


def _add_streams(routes: APIRouter, registry: Registry, streams: EventStreams) -> None:
    @routes.get(
        "/processes/{process_id}/stream", response_class=Response, openapi_extra=schema.STREAM
    )
    async def stream(process_id: str, request: Request) -> Response:
        """Send output as it comes, as server-sent events; ends with the event ``exit``."""
        record = registry.find(process_id, chat_of(request.headers))
        cursor = number(request.query_params, "cursor", 0)
        # An EventSource repeats the same URL when it reconnects and reports its position in this
        # header (HTML Standard, section 9.2), so the header has precedence over the query.
        last = request.headers.get("last-event-id", "")
        if last.isascii() and last.isdigit() and len(last) <= LONGEST_CURSOR:
            cursor = int(last)
        # The limit is checked before the response begins, while a status can still be sent.
        if streams.full:
            raise TooManyOutputStreams(streams.limit)
        events = output_events(record.process, cursor, lambda: _state(record))
        return EventStreamResponse(streams, events)


def once(registry: Registry, instance: str = "") -> Callable[..., Coroutine[Any, Any, Answer]]:
    """Return the function by which other routers execute a tool call's change once.

    ``instance`` is that of the service: calls that were first sent to another one are refused.
    """

    async def run(
        headers: Mapping[str, str], digest: str, act: Callable[[], Coroutine[Any, Any, Answer]]
    ) -> Answer:
        try:
            call = identity_of(headers, chat_of(headers))
            registry.once.check_instance(call, instance_of(headers), instance)
            if call is None:
                return await act()
            return (await registry.once.run(call, digest, lambda p: _recorded(p, act)))[0]
        except ToolCallError as error:
            raise _refusal(error) from error

    return run


async def _recorded(progress: Progress, act: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    progress.began()
    answer = await act()
    progress.ended(answer)
    return answer


def touched(note: Touched) -> Callable[[Mapping[str, str], Sequence[str]], None]:
    """Return the function by which other routers report the paths that a request changed."""

    def report(headers: Mapping[str, str], paths: Sequence[str]) -> None:
        chat = chat_of(headers)
        if chat is not None:
            note(chat, paths)

    return report


def _times(registry: Registry, record: Record) -> Json:
    """Return age and run time, and if the caller's timeout has passed."""
    age = int((registry.now() - record.started) * 1000)
    patience = record.request.timeout_ms
    times: Json = {"age_ms": age, "timed_out": record.running and 0 < patience <= age}
    if record.ended is not None:
        times["duration_ms"] = int((record.ended - record.started) * 1000)
    return times


def _ending(record: Record) -> Json:
    ending = record.process.exit
    if ending is None:
        return {}
    named = {"signal": ending.signal} if ending.signal else {}
    return {"exit_code": ending.code} | named


def _state(record: Record) -> Json:
    return (
        {
            "id": record.id,
            "command": record.request.command,
            "running": record.running,
            "canceled": record.canceled,
        }
        | _ending(record)
        | _copied(record)
    )


def _copied(record: Record) -> Json:
    copy = record.process.copy
    if copy is None:
        return {}
    lost = {"output_lost": copy.lost} if copy.lost else {}
    return {"output_path": str(copy.path), "exit_path": str(copy.exit_path)} | lost


def _snapshot(record: Record, *, newest: bool = False) -> Json:
    shown = record.process.buffer.snapshot(newest=newest)
    return {
        "output": shown.text,
        "truncated": asdict(shown.truncated) if shown.truncated else None,
        "total_bytes": record.process.buffer.total,
    }


async def _raw(request: Request, record: Record, most: int) -> Response:
    """Return the first ``most`` bytes of the output up to now, or a range of these.

    They come from the service's own copy, or from the buffer while that has all of them. A copy in
    a file that the caller named belongs to the user of commands, who may change it.
    """
    buffer, copy = record.process.buffer, record.process.copy
    if copy is not None and not record.request.output_path and not copy.lost:
        response = await file_response(request, copy.path, OCTETS, "output", most)
    elif buffer.total <= RECENT:
        response = bytes_response(request, buffer.read(0, most).data, OCTETS)
    elif record.request.output_path:
        raise OutputNotKept(f"It is in {record.request.output_path}, as the start asked for.")
    else:
        raise OutputNotKept(f"Its copy was lost: {copy.lost}." if copy else "There is no copy.")
    response.headers[TOTAL_HEADER] = str(buffer.total)
    return response


def _listed(record: Record) -> Json:
    fields: Json = {
        "id": record.id,
        "command": record.request.command,
        "workdir": str(record.workdir),
        "background": record.request.background,
        "running": record.running,
        "started_at_unix": int(record.started_at),
    }
    if record.name:
        fields["name"] = record.name
    if record.exited_at is not None:
        fields["exited_at_unix"] = int(record.exited_at)
    return fields | _ending(record) | _copied(record)


def _refusal(error: ToolCallError) -> HTTPException:
    match error:
        case BadProcessRequest() | MalformedCall():
            detail = {"detail": error.detail} if error.detail else {}
            return HTTPException(400, {"message": error.message} | detail)
        case UnknownProcess():
            return HTTPException(404, {"message": "Process not found.", "detail": str(error)})
        case InputClosed() | NoTerminal() | NotRunning() | OutputNotKept():
            return HTTPException(409, {"message": _CONFLICTS[type(error)], "detail": str(error)})
        case TooManyOutputStreams():
            return HTTPException(429, {"message": str(error)})
        case CallRefused():
            return HTTPException(409, {"message": str(error), "code": error.code})
        case NoRoomForOutput():
            return HTTPException(507, {"message": "Failed to start process.", "detail": str(error)})
        case StartFailed():
            return HTTPException(500, {"message": "Failed to start process.", "detail": str(error)})
        case _:
            return HTTPException(500, {"message": str(error)})
