"""The WebSocket of one page: its subscriptions, and what they send."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from typing import NoReturn

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.control_plane.ports import Chats, Desktops, Events
from deskhand.tools.fleet.errors import UnknownDesktop
from deskhand.vncbridge.auth.middleware import Grants, nothing_granted
from deskhand.vncbridge.auth.policy import Principal
from deskhand.vncbridge.auth.scopes import ADMIN, Need, allows
from deskhand.vncbridge.websocket.client_stream import (
    TRY_AGAIN_LATER,
    ClientStream,
    CloseReason,
)
from deskhand.vncbridge.websocket.tunnel import until_one_ends

from .desktop_changes import DesktopChanges
from .messages import (
    BadMessage,
    Subscribe,
    Unsubscribe,
    event_id,
    note,
    number_of,
    parse_message,
    picture,
)
from .outbox import Outbox
from .screens import Screens
from .topics import Topic, UnknownTopic

MOST_TOPICS = 200
CONVERSATION = ("text", "message", "queue")
"""Kinds of events with which a reader could follow a conversation."""

HIDDEN = ("text",)
"""Kinds that a page with all chats does not show; a text comes with each token of a reply."""

WATCH = "/api/v0/desktop/lease/watch?viewer=list"
"""Of a desktop service: who has control, and how many watch."""

OwningChats = Callable[[str, str], Awaitable[frozenset[str]]]


class LiveSources:
    """Everything that pages subscribe to."""

    def __init__(
        self,
        plane: str,
        chats: Chats,
        desktops: Desktops,
        changes: DesktopChanges,
        owning: OwningChats,
        grants: Grants = nothing_granted,
    ) -> None:
        self.plane = plane
        self.chats = chats
        self.desktops = desktops
        self.changes = changes
        self.owning = owning
        self.grants = grants
        self.screens = Screens(desktops)

    async def permitted(self, principal: Principal, topic: Topic) -> bool:
        """Return whether the scopes of a principal permit a topic."""
        return await self._allows(principal, topic.need())

    async def reads_conversation(self, principal: Principal, topic: Topic) -> bool:
        """Return whether they cover the conversation of a chat, too."""
        return await self._allows(principal, topic.need()._replace(level="view"))

    async def shows(self, principal: Principal, chat_id: str) -> bool:
        """Return whether the list of all chats has this one for a principal."""
        if not principal.person:
            return True
        return await self._allows(principal, Need("chat", chat_id, "share"))

    async def _allows(self, principal: Principal, needed: Need) -> bool:
        scopes = principal.scopes
        if principal.person and ADMIN not in scopes:
            scopes = (*scopes, *await self.grants(principal, needed))
        return allows(scopes, needed, await self._family(needed))

    async def _family(self, needed: Need) -> frozenset[str]:
        return await self.owning("chat", needed.id) if needed.kind == "chat" else frozenset()


class LiveConnection:
    """One page."""

    def __init__(self, sources: LiveSources, principal: Principal, stream: ClientStream) -> None:
        self._sources = sources
        self._principal = principal
        self._stream = stream
        self._outbox = Outbox()
        self._waiting = asyncio.Event()
        self._subscriptions: dict[str, AsyncExitStack] = {}

    async def run(self) -> CloseReason:
        """Serve the page until it disconnects; return how the socket is closed."""
        try:
            return await until_one_ends(self._receive(), self._send())
        finally:
            for name in tuple(self._subscriptions):
                await self._unsubscribe(name)

    async def _receive(self) -> NoReturn:
        while True:
            data = await self._stream.receive()
            try:
                message = parse_message(data if isinstance(data, str) else "")
            except (BadMessage, UnknownTopic) as error:
                self._add(note("", "refused", message=str(error)))
                continue
            if isinstance(message, Unsubscribe):
                await self._unsubscribe(message.name)
            else:
                await self._subscribe(message)

    async def _send(self) -> NoReturn:
        while True:
            message = self._outbox.take()
            if message is None:
                self._waiting.clear()
                await self._waiting.wait()
            else:
                await self._stream.send(message)

    def _add(self, message: str) -> None:
        self._outbox.add(message)
        self._waiting.set()
        if self._outbox.full:
            # The page reads what it shows again when it has connected again.
            reason = CloseReason(TRY_AGAIN_LATER, "The page reads too slowly.")
            asyncio.get_running_loop().create_task(self._stream.close(reason))

    async def _subscribe(self, wanted: Subscribe) -> None:
        topic = wanted.topic
        await self._unsubscribe(topic.name)
        if len(self._subscriptions) >= MOST_TOPICS:
            self._add(note(topic.name, "refused", message="There are too many subscriptions."))
            return
        if not await self._sources.permitted(self._principal, topic):
            message = "This credential is not good for that."
            self._add(note(topic.name, "refused", message=message))
            return
        stack = self._subscriptions[topic.name] = AsyncExitStack()
        match topic.kind:
            case "desktops":
                changed = self._sources.changes.subscribe(lambda: self._changed(topic))
                stack.callback(changed)
            case "shot":
                screens = self._sources.screens
                stack.callback(screens.subscribe(topic.id, topic.width, self._show(topic)))
                stack.callback(self._outbox.forget, topic.name)
            case "viewers":
                self._start(stack, self._viewers(topic))
            case _:
                events = await self._subscription(wanted)
                # A task that is cancelled before it begins never reaches its ``finally``.
                stack.push_async_callback(events.aclose)
                self._start(stack, self._events(topic, events))
        self._add(note(topic.name, "open"))

    def _start(self, stack: AsyncExitStack, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)

        async def end() -> None:
            task.cancel()
            await asyncio.wait({task})

        stack.push_async_callback(end)

    async def _unsubscribe(self, name: str) -> None:
        stack = self._subscriptions.pop(name, None)
        if stack is not None:
            await stack.aclose()

    async def _subscription(self, wanted: Subscribe) -> Events:
        after = number_of(self._sources.plane, wanted.after)
        return self._sources.chats.events(wanted.topic.id or None, after)

    async def _events(self, topic: Topic, events: Events) -> None:
        try:
            whole = topic.kind == "chats" or await self._sources.reads_conversation(
                self._principal, topic
            )
            hidden = HIDDEN if topic.kind == "chats" else () if whole else CONVERSATION
            with suppress(StopAsyncIteration):
                while True:
                    event = await events.__anext__()
                    if event.kind in hidden:
                        continue
                    if topic.kind == "chats" and not await self._shows(event.chat_id):
                        continue
                    kind = "again" if event.kind == "lost" else event.kind
                    known = event_id(self._sources.plane, event.id)
                    fields = {"id": known, "chat_id": event.chat_id, "data": event.data}
                    self._add(note(topic.name, kind, **fields))
        finally:
            await events.aclose()

    async def _shows(self, chat_id: str | None) -> bool:
        # An event of no chat says that others were lost.
        return not chat_id or await self._sources.shows(self._principal, chat_id)

    def _changed(self, topic: Topic) -> None:
        self._add(note(topic.name, "changed"))

    def _show(self, topic: Topic) -> Callable[[bytes], None]:
        def show(image: bytes) -> None:
            self._outbox.show(topic.name, picture(topic.name, image))
            self._waiting.set()

        return show

    async def _viewers(self, topic: Topic) -> None:
        """Pass on who has control of a desktop and how many watch, until the desktop ends."""
        try:
            await self._sources.desktops.locate(topic.id)
            service = self._sources.desktops.client(topic.id)
            async with service.websocket(WATCH) as watch:
                async for state in watch:
                    text = state if isinstance(state, str) else state.decode()
                    self._add(f'{note(topic.name, "state")[:-1]},"data":{text}}}')
        except (UnknownDesktop, DesktopUnavailable, DesktopRefused) as error:
            self._add(note(topic.name, "ended", message=str(error)))
