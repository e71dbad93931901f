"""The tools of the control plane for one caller, each call on behalf of a chat."""

import base64
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from starlette.requests import Request

from deskhand.desktop.fields import wrong
from deskhand.desktop.mcp.advice import instructions
from deskhand.desktop.mcp.calls.desktop_calls import RECORDINGS, SCREENSHOT, guarded
from deskhand.desktop.mcp.calls.seen_screens import SeenScreens
from deskhand.desktop.mcp.calls.tool_results import result_of
from deskhand.desktop.mcp.errors import McpError, UnknownMcpTool
from deskhand.desktop.mcp.ports import McpCaller
from deskhand.desktop.mcp.selection import ToolSelection, selection_of
from deskhand.desktop.mcp.tool import McpResult, McpTool
from deskhand.tools.control_plane import caller
from deskhand.tools.control_plane.ports import Chats
from deskhand.tools.conversation.errors import ChatError
from deskhand.tools.kit.support.spec import Json, Tool, ToolOutcome
from deskhand.tools.store.database import uncancelled
from deskhand.tools.store.errors import StoreError, UnknownRow
from deskhand.vncbridge.auth.scopes import chats_of

from .call_limits import within_limits
from .chat_tool import ChatTool, ReadTool
from .plane_tools import CHAT, CHAT_TOOLS, ON_DESKTOP

OwningChats = Callable[[str, str], Awaitable[frozenset[str]]]
"""Returns the chats that a ``chat`` belongs to, by its id: itself and its ancestors."""

MOST_LISTED = 50


class PlaneCallers:
    """Makes the caller of each request to ``/mcp`` of a control plane."""

    def __init__(self, chats: Chats, owning_chats: OwningChats, base_url: str) -> None:
        """``base_url`` is the address for people; empty if there is none."""
        self._chats = chats
        self._owning_chats = owning_chats
        self._base_url = base_url
        self._seen = SeenScreens()

    def __call__(self, request: Request) -> McpCaller:
        """Return the caller of a request.

        Raises:
            BadMcpOption: If the query names a wrong option.
            BadCaller: If the header of the chat has no id.
        """
        selection = selection_of(request.query_params)
        named = caller.chat_id(request.headers)
        owner = caller.credential_id(request.scope)
        key = f"{owner}\n{named or ''}"
        noted: dict[str, str] = {}
        # The audit log reads it when the request has ended.
        request.state.tool_call = noted
        calls = PlaneCalls(
            *(self._chats, self._owning_chats, self._base_url, self._seen),
            selection=selection,
            key=key,
            named=named,
            bound=chats_of(request.state.principal.scopes),
            default=lambda: self._default(request),
            noted=noted,
        )
        return McpCaller(key, calls)

    async def _default(self, request: Request) -> str:
        name = caller.principal_name(request.scope)
        return (await self._chats.default_chat(name, caller.credential_id(request.scope))).id


class PlaneCalls:
    """Implements ``ToolCalls`` with the tools of chats."""

    def __init__(
        self,
        chats: Chats,
        owning_chats: OwningChats,
        base_url: str,
        seen: SeenScreens,
        *,
        selection: ToolSelection,
        key: str,
        named: str | None,
        bound: Sequence[str],
        default: Callable[[], Awaitable[str]],
        noted: dict[str, str] | None = None,
    ) -> None:
        """``named`` is the chat of the header, ``bound`` are those of the credential's scopes.

        ``noted`` gets the tool and the chat of a call, for the audit log.
        """
        self._noted = {} if noted is None else noted
        self._chats = chats
        self._owning_chats = owning_chats
        self._base_url = base_url
        self._seen = seen
        self._selection = selection
        self._key = key
        self._named = named
        self._bound = bound
        self._default = default

    @property
    def instructions(self) -> str:
        """Advice for the model."""
        return instructions([tool.group for tool in self.tools()], chats=True)

    def tools(self) -> Sequence[McpTool]:
        """Return the offered tools."""
        return self._selection.offered(CHAT_TOOLS)

    async def call(self, name: str, arguments: Json) -> McpResult:
        """Execute a call as a step of the caller's chat; raises ``UnknownMcpTool``."""
        for tool in self.tools():
            if tool.name == name:
                return await guarded(self._called(tool, dict(arguments)))
        raise UnknownMcpTool(name)

    async def _called(self, called: McpTool, arguments: Json) -> McpResult:
        given, name = called.arguments.read(arguments), called.name
        try:
            chat = await self._chat(arguments.pop(CHAT, None))
            self._noted |= {"tool": name, "chat": chat}
            call_id = f"mcp_{uuid.uuid4().hex}"
            if name not in ON_DESKTOP:
                limited = within_limits(name, arguments, given)
                outcome = await self._outcome(name, limited, chat, call_id)
                return self._with_page(result_of(name, outcome.value, outcome.error))
            tool = ChatTool(name, self._seen, f"{self._key}\n{chat}", self._selection)
            outcome = await self._outcome(tool, arguments, chat, call_id)
            return await self._linked(tool.result(outcome), chat)
        except (ChatError, StoreError) as error:
            return McpResult(str(error), is_error=True)

    async def _outcome(
        self, tool: str | Tool, arguments: Json, chat: str, call_id: str
    ) -> ToolOutcome:
        """Call a tool, and note the desktop of the chat, which its first call may have started."""
        try:
            return await self._chats.call_tool(tool, arguments, chat, call_id)
        finally:
            # Also of a cancelled call: the audit log has it.
            await uncancelled(self._note_desktop(chat))

    async def _note_desktop(self, chat: str) -> None:
        with suppress(ChatError, StoreError):
            if found := await self._chats.desktop_of(chat):
                self._noted["desktop"] = found

    def _with_page(self, result: McpResult) -> McpResult:
        """Return a result that names the page on which a person answers."""
        if result.question is None:
            return result
        page = f"{self._base_url}/runs/{result.question.chat_id}"
        text = f"{result.text}\nA person must answer at {page}; then wait_agent again."
        return replace(result, text=text, content={**result.content, "run_url": page})

    async def answer(self, chat_id: str, text: str, question: str = "") -> None:
        """Answer the question of an agent of the caller; raises ``McpError``."""
        if not await self._speaks_for(chat_id):
            raise McpError("that agent is not yours")
        try:
            by = f"mcp:{self._key.partition(chr(10))[0]}"
            await self._chats.answer(chat_id, text, by=by, question=question or None)
        except (ChatError, StoreError) as error:
            raise McpError(str(error)) from error

    async def resources(self) -> Sequence[Json]:
        """Return the screenshot, and the runs of the caller's agents."""
        mine = await self._chat(None)
        screen = {"uri": SCREENSHOT, "name": "screenshot", "title": "The screen now"}
        listed: list[Json] = [{**screen, "mimeType": "image/png"}]
        page = await self._chats.list(parent=mine, state=None, limit=MOST_LISTED, cursor=None)
        for chat in page.chats:
            uri, title = f"{RECORDINGS}{chat.id}", chat.title
            listed.append({"uri": uri, "name": chat.id, "title": title, "mimeType": "text/plain"})
        return listed

    async def read(self, uri: str) -> Json:
        """Return a screenshot of the caller's desktop, or the steps of a run with its page."""
        if uri == SCREENSHOT:
            found = await self.call("computer_look", {})
            if found.image is None:
                raise McpError(found.text)
            data = base64.b64encode(found.image.data).decode()
            return {"mimeType": found.image.media_type, "blob": data}
        if not uri.startswith(RECORDINGS):
            raise McpError(f"there is no resource {uri[:200]}")
        name = uri.removeprefix(RECORDINGS)
        try:
            text = await self._run(name) or await self._recording(uri)
        except (ChatError, StoreError) as error:
            raise McpError(str(error)) from error
        return {"mimeType": "text/plain", "text": text}

    async def _recording(self, uri: str) -> str:
        """Return the steps of a recording that the caller has made on its desktop."""
        mine = await self._chat(None)
        if (await self._chats.get(mine)).desktop_id is None:
            raise McpError(f"there is no resource {uri[:200]}")
        tool = ReadTool(uri, self._selection)
        outcome = await self._chats.call_tool(tool, {}, mine, f"mcp_{uuid.uuid4().hex}")
        if outcome.error is not None:
            raise McpError(outcome.error)
        return str(outcome.value["text"])

    async def _run(self, chat_id: str) -> str:
        """Return the steps of a run, with its page; empty if there is none."""
        try:
            if not await self._speaks_for(chat_id):
                return ""
            chat, steps = await self._chats.get(chat_id), await self._chats.steps(chat_id)
        except (ChatError, UnknownRow):
            return ""
        lines = [f"{chat.title} ({chat.state}): {self._base_url}/runs/{chat.id}"]
        lines += [f"video {self._base_url}/api/v0/files/{one}" for one in chat.recording_file_ids]
        for number, step in enumerate(steps, 1):
            failed = f" - failed: {step.error}" if step.error else ""
            lines.append(f"{number}. {step.title or step.tool}{failed}")
        return "\n".join(lines)

    async def _chat(self, wanted: Any) -> str:
        """Return the chat that a call belongs to."""
        if wanted is None:
            return self._named or await self._default_chat()
        try:
            chat = str(uuid.UUID(str(wanted)))
        except ValueError:
            raise wrong(CHAT, "the id of a chat") from None
        # Access control checks the header, and this argument stands in its place.
        if not await self._speaks_for(chat):
            raise McpError("this credential speaks for another chat")
        return (await self._chats.get(chat)).id

    async def _speaks_for(self, chat_id: str) -> bool:
        """Return whether the credential covers a chat: it is bound to the chat or one above it."""
        if not self._bound:
            return True
        return not (await self._owning_chats("chat", chat_id)).isdisjoint(self._bound)

    async def _default_chat(self) -> str:
        return self._bound[0] if self._bound else await self._default()

    async def _linked(self, result: McpResult, chat: str) -> McpResult:
        """Return a result whose paths of recordings lead through the control plane."""
        own = "/api/v0/desktop/recordings/"
        if own not in result.text:
            return result
        desktop = (await self._chats.get(chat)).desktop_id
        there = f"{self._base_url}/api/v0/desktops/{desktop}/desktop/recordings/"
        recordings = [
            {**one, "video": str(one["video"]).replace(own, there)}
            for one in result.content.get("recordings", [])
        ]
        return McpResult(result.text.replace(own, there), {"recordings": recordings})
