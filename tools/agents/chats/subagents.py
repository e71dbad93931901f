"""Children of a chat: started, waited for, spoken to, ended."""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.desktops.ports import DesktopSource, Models
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.conversation.states import BUSY, ChatState, Delivery, StateEvent
from deskhand.tools.conversation.views import ChatView
from deskhand.tools.kit.subagents import SubagentRequest
from deskhand.tools.store import chats
from deskhand.tools.store.database import Store

from .desktop_assignment import OWN, SHARED, DesktopAssignment
from .recordings import ChatRecordings
from .repository import ChatRepository, NewChat
from .subagent_results import ChildChat, asking, finished, named, progress, read_child
from .turn_runner import role_of
from .turn_tasks import Turns

Json = dict[str, Any]

NOT_WAITABLE = "target chat is not a subagent of the current chat"
NOT_BELOW = "target chat is not a descendant of current chat"
# What changes nothing about whether a chat is at rest.
_IDLE_NEWS = ("text", "step", "message", "queue", "files")


class ChildChats:
    """The children of all chats. Whose child it is, is checked before anything is done."""

    def __init__(
        self,
        book: ChatRepository,
        turns: Turns[Any],
        models: Models,
        machines: DesktopSource,
        workplaces: DesktopAssignment,
        recordings: ChatRecordings,
    ) -> None:
        self._book = book
        self._store: Store = book.store
        self._turns = turns
        self._models = models
        self._machines = machines
        self._workplaces = workplaces
        self._recordings = recordings

    async def spawn(self, caller_id: str, order: SubagentRequest) -> Json:
        """Start a child; if it gets a desktop, that starts behind the answer."""
        caller = await self._book.view(caller_id)
        if caller.parent_id is not None:
            raise BadChatRequest("delegated chats cannot create child subagents")
        if caller.archived:
            raise BadChatRequest("archived chats cannot create child subagents")
        if order.desktop not in (OWN, SHARED) and not self._machines.known(order.desktop):
            raise BadChatRequest(
                f"no desktop has the id {order.desktop}; leave desktop out for an own"
            )
        model, _ = self._models.resolve(order.model, role=role_of(order.kind, caller_id))
        wish = order.desktop if order.kind == "computer_use" else None
        wanted = NewChat(
            prompt=order.prompt.strip(),
            title=order.title,
            mode=order.kind,
            model=model,
            parent_id=caller_id,
            desktop_wish=wish,
            budget=order.budget,
        )
        view = await self._book.create(wanted)
        if wish == OWN:
            self._workplaces.expect(view.id)
        self._turns.start(view.id)
        told = {**named(view), "run_url": self._book.settings.run_url(view.id)}
        place = self._workplaces.place(view.id)
        return told if place is None else {**told, "place": place}

    async def wait(self, caller_id: str, chat_id: str, seconds: float) -> Json:
        """Wait for one child and return what came of its turn, or how far it is."""
        children = await self._wait(caller_id, [chat_id], seconds, "all")
        return self._told(children[0])

    async def wait_for_all(
        self, caller_id: str, chat_ids: list[str], seconds: float, mode: Literal["all", "any"]
    ) -> Json:
        """Wait for several children, or for the first of them."""
        children = await self._wait(caller_id, chat_ids, seconds, mode)
        results = [self._told(child) for child in children if child.at_rest]
        pending = [self._told(child) for child in children if not child.at_rest]
        enough = bool(results) if mode == "any" else not pending
        return {"results": results, "pending": pending, "timed_out": not enough}

    async def message(self, caller_id: str, chat_id: str, message: str, interrupt: bool) -> Json:
        """Say something to a child: now, or when its turn ends."""
        await self._check(caller_id, [chat_id], NOT_BELOW)
        interrupted = await self.send(chat_id, message, interrupt=interrupt)
        return {**named(await self._book.view(chat_id)), "interrupted": interrupted}

    async def interrupt(self, caller_id: str, chat_id: str) -> Json:
        """Stop a child's turn; it can be sent another message."""
        await self._check(caller_id, [chat_id], NOT_BELOW)
        interrupted = await self.stop(chat_id)
        return {**named(await self._book.view(chat_id)), "interrupted": interrupted}

    async def close(self, caller_id: str, chat_id: str) -> Json:
        """End a child: its turn, its recording, its desktop."""
        await self._check(caller_id, [chat_id], NOT_BELOW)
        await self.end(chat_id)
        return {**named(await self._book.view(chat_id)), "terminated": True}

    async def list(self, caller_id: str, limit: int, offset: int) -> Json:
        """Return the children, those that changed last first."""
        caller = await self._book.view(caller_id)
        if caller.parent_id is not None:
            raise BadChatRequest("list_agents is only available on root chats")
        views = await self._store.read(lambda s: _children(s, caller_id))
        shown = [_listed(view) for view in views[offset : offset + limit]]
        return {
            "agents": shown,
            "total": len(views),
            "returned": len(shown),
            "offset": offset,
            "has_more": offset + len(shown) < len(views),
        }

    async def send(self, chat_id: str, message: str, *, interrupt: bool = False) -> bool:
        """Give any chat a message; say whether that interrupted it."""
        before = (await self._book.view(chat_id)).state
        made = await self._book.send(chat_id, message, interrupt=interrupt)
        if made.delivery is not Delivery.ENQUEUE:
            self._turns.start(chat_id)
        elif made.state is ChatState.INTERRUPTING or (
            interrupt and before == ChatState.REQUIRES_ACTION
        ):
            self._turns.interrupt(chat_id)
        self._turns.ensure(chat_id)
        return interrupt and before in (ChatState.RUNNING, ChatState.REQUIRES_ACTION)

    async def stop(self, chat_id: str) -> bool:
        """Interrupt any chat; say whether it was at work."""
        view = await self._book.view(chat_id)
        if view.state not in (ChatState.QUEUED, ChatState.RUNNING, ChatState.REQUIRES_ACTION):
            return False
        await self._book.move(chat_id, StateEvent.INTERRUPT)
        self._turns.interrupt(chat_id)
        self._turns.ensure(chat_id)
        return True

    async def end(self, chat_id: str) -> None:
        """Stop a chat, return when it is at rest, and give its own desktop back."""
        await self.stop(chat_id)
        await self._turns.over(chat_id)
        await self._workplaces.release(chat_id)

    async def _wait(
        self,
        caller_id: str,
        chat_ids: Sequence[str],
        seconds: float,
        mode: Literal["all", "any"],
    ) -> Sequence[ChildChat]:
        await self._check(caller_id, chat_ids, NOT_WAITABLE)
        patience = seconds if seconds > 0 else self._book.settings.wait_seconds
        until = asyncio.FIRST_COMPLETED if mode == "any" else asyncio.ALL_COMPLETED
        waits = [asyncio.create_task(self._rest(chat_id)) for chat_id in chat_ids]
        try:
            await asyncio.wait(waits, timeout=patience, return_when=until)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        # Read again, so that a child that ends at the last moment has ended.
        return [await self._child(chat_id) for chat_id in chat_ids]

    async def _rest(self, chat_id: str) -> None:
        with self._book.hub.subscribe(chat_id) as news:
            if (await self._book.view(chat_id)).state not in BUSY:
                return
            await self._recordings.ensure(chat_id)
            async for event in news:
                if event.kind in _IDLE_NEWS or event.data.get("state") in BUSY:
                    continue
                # A message may have come since, so that it works again.
                if event.kind == "deleted" or (await self._book.view(chat_id)).state not in BUSY:
                    return

    async def _check(self, caller_id: str, chat_ids: Sequence[str], refusal: str) -> None:
        async def work(session: AsyncSession) -> bool:
            below = [await chats.is_descendant(session, c, caller_id) for c in chat_ids]
            return all(below)

        if not await self._store.read(work):
            raise BadChatRequest(refusal)

    async def _child(self, chat_id: str) -> ChildChat:
        return await self._store.read(lambda session: read_child(session, chat_id))

    def _told(self, child: ChildChat) -> Json:
        live_url = self._book.settings.live_url(child.view.desktop_id)
        if child.view.state == ChatState.REQUIRES_ACTION:
            return asking(child, live_url, self._book.now())
        if child.at_rest:
            return finished(child, live_url)
        place = self._workplaces.place(child.view.id)
        return progress(child, live_url, place, self._book.now())


async def _children(session: AsyncSession, caller_id: str) -> Sequence[ChatView]:
    page = await chats.page(session, parent=caller_id, state=None, limit=1000, cursor=None)
    return sorted(page.chats, key=lambda view: (view.updated_at, view.id), reverse=True)


def _listed(view: ChatView) -> Json:
    return {**named(view), "created_at": view.created_at, "updated_at": view.updated_at}
