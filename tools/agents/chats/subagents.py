"""Children of a chat (subagents): start them, wait for them, send them messages, end them.

A wait is a read of the child's state and a subscription to its events. It holds no lock and leaves
nothing behind: any number of waits may run for one child, and one that times out can be repeated.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.desktop.network.egress import EgressRequest, from_json
from deskhand.desktop.network.errors import InvalidEgress
from deskhand.tools.agents.chat_recordings.chat_recordings import ChatRecordings
from deskhand.tools.agents.chat_repository.repository import ChatRepository, NewChat
from deskhand.tools.agents.desktops.ports import DesktopSource, Models
from deskhand.tools.agents.driving.port import TurnTasks
from deskhand.tools.agents.providers.model_table import WITHOUT_MODEL, model_facts
from deskhand.tools.agents.providers.provider_table import effort_problem
from deskhand.tools.agents.workdirs.rows import check_files
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.conversation.restrictions import (
    ApprovalMode,
    ChatRestrictions,
    default_approval,
)
from deskhand.tools.conversation.states import BUSY, ChatState, Delivery, StateEvent
from deskhand.tools.conversation.views import ChatView
from deskhand.tools.kit.subagents import SubagentRequest
from deskhand.tools.store import chats
from deskhand.tools.store.database import Store

from .desktop_assignment import OWN, SHARED, DesktopAssignment
from .subagent_results import ChildChat, asking, finished, named, progress, read_child
from .turn_limits import role_of

Json = dict[str, Any]

UNKNOWN_PRICES = (
    "budget.usd needs the prices of the model, and those of {} are not known; use budget.tokens"
)
NOT_WAITABLE = "target chat is not a subagent of the current chat"
NOT_BELOW = "target chat is not a descendant of current chat"
# Kinds of events that do not change whether a chat is at rest.
_IDLE_EVENTS = ("text", "step", "message", "queue", "files", "egress")


class ChildChats:
    """The children of all chats; every method for a caller checks first that the child is its own.

    ``send``, ``stop`` and ``end`` are for people, who may act on any chat.
    """

    def __init__(
        self,
        repository: ChatRepository,
        turns: TurnTasks,
        models: Models,
        machines: DesktopSource,
        assignment: DesktopAssignment,
        recordings: ChatRecordings,
        is_owner: Callable[[str], bool],
    ) -> None:
        self._repository = repository
        self._store: Store = repository.store
        self._turns = turns
        self._models = models
        self._machines = machines
        self._assignment = assignment
        self._recordings = recordings
        self._is_owner = is_owner

    async def spawn(self, caller_id: str, request: SubagentRequest) -> Json:
        """Start a child and return at once; its desktop, if it gets one, starts in its own task."""
        caller = await self._repository.view(caller_id)
        if caller.parent_id is not None:
            raise BadChatRequest("delegated chats cannot create child subagents")
        if caller.archived:
            raise BadChatRequest("archived chats cannot create child subagents")
        if request.desktop not in (OWN, SHARED) and not await self._may_use(
            caller, request.desktop
        ):
            # The same text for a desktop of another chat: its existence is not disclosed.
            raise BadChatRequest(
                f"no desktop has the id {request.desktop}; leave desktop out for an own"
            )
        model, _ = self._models.resolve(request.model, role=role_of(request.kind, caller_id))
        if problem := effort_problem(request.effort):
            raise BadChatRequest(f"effort: {problem}")
        if "usd" in request.budget and model_facts(model).prices is None:
            raise BadChatRequest(UNKNOWN_PRICES.format(model))
        egress = await self._child_egress(caller_id, request)
        requested = request.desktop if request.kind == "computer_use" else None
        new_chat = NewChat(
            prompt=request.prompt.strip(),
            title=request.title,
            mode=request.kind,
            model=model,
            parent_id=caller_id,
            requested_desktop=requested,
            budget=request.budget,
            egress=egress,
            without_execute=request.without_execute,
            restrictions=self._child_restrictions(caller, request, model),
            effort=request.effort,
            start=request.start,
        )
        await self._check_start(caller, request)
        view = await self._repository.create(new_chat)
        if requested == OWN:
            # Before the task runs, so that the answer contains the position in the queue.
            self._assignment.expect(view.id)
        self._turns.start(view.id)
        result = {**named(view), "run_url": self._repository.settings.run_url(view.id)}
        position = self._assignment.position(view.id)
        return result if position is None else {**result, "place": position}

    async def _check_start(self, caller: ChatView, request: SubagentRequest) -> None:
        await self._store.read(lambda s: check_files(s, request.start, caller.root_id))
        start = request.start
        for name, value in (("template", start.template), ("profile", start.profile)):
            if value is not None and (request.desktop != OWN or request.kind != "computer_use"):
                raise BadChatRequest(f"{name} can be set only for a desktop of its own")
        await self._assignment.check_start(start)

    def _child_restrictions(
        self, caller: ChatView, request: SubagentRequest, model: str
    ) -> ChatRestrictions:
        own = caller.restrictions
        # A caller that no model drives is a person's program, which may choose.
        if caller.turn:
            parent_model, _ = self._models.resolve(caller.model, role=role_of(caller.mode, None))
            own = replace(own, approval=own.approval or self._usual_approval(parent_model))
        wanted = request.restrictions
        approval = wanted.approval or self._usual_approval(model)
        return own.of_child(replace(wanted, approval=approval))

    def _usual_approval(self, model: str) -> ApprovalMode:
        setting = self._repository.settings.approval
        return default_approval(setting, scripted=model.startswith(WITHOUT_MODEL))

    async def _child_egress(self, caller_id: str, request: SubagentRequest) -> Json | None:
        own = request.desktop == OWN and request.kind == "computer_use"
        if not own and request.egress != EgressRequest():
            raise BadChatRequest("egress can be set only for a desktop of its own")
        row = await self._store.read(lambda s: chats.get(s, caller_id))
        parent = None if row.egress is None else from_json(row.egress)
        try:
            found = self._repository.settings.egress.of_child(parent, request.egress)
        except InvalidEgress as error:
            raise BadChatRequest(str(error)) from error
        return found.to_json() if own else None

    async def wait(self, caller_id: str, chat_id: str, seconds: float) -> Json:
        """Wait for one child; return the result of its turn, or its progress at the time-out."""
        children = await self._wait(caller_id, [chat_id], seconds, "all")
        return self._result(children[0])

    async def wait_for_all(
        self, caller_id: str, chat_ids: list[str], seconds: float, mode: Literal["all", "any"]
    ) -> Json:
        """Wait for all of several children, or for any of them."""
        children = await self._wait(caller_id, chat_ids, seconds, mode)
        # A child that asks a person counts as at rest: its result is the question, and the answer
        # may come long after.
        results = [self._result(child) for child in children if child.at_rest]
        pending = [self._result(child) for child in children if not child.at_rest]
        enough = bool(results) if mode == "any" else not pending
        return {"results": results, "pending": pending, "timed_out": not enough}

    async def message(self, caller_id: str, chat_id: str, message: str, interrupt: bool) -> Json:
        """Send a message to a child: now, or when its turn ends."""
        await self._check(caller_id, [chat_id], NOT_BELOW)
        interrupted = await self.send(chat_id, message, interrupt=interrupt)
        return {**named(await self._repository.view(chat_id)), "interrupted": interrupted}

    async def interrupt(self, caller_id: str, chat_id: str) -> Json:
        """Interrupt a child's turn; the child can still receive messages."""
        await self._check(caller_id, [chat_id], NOT_BELOW)
        interrupted = await self.stop(chat_id)
        return {**named(await self._repository.view(chat_id)), "interrupted": interrupted}

    async def close(self, caller_id: str, chat_id: str) -> Json:
        """End a child with its turn, its recording and its desktop."""
        await self._check(caller_id, [chat_id], NOT_BELOW)
        await self.end(chat_id)
        return {**named(await self._repository.view(chat_id)), "terminated": True}

    async def list(self, caller_id: str, limit: int, offset: int) -> Json:
        """Return a page of the caller's children, the most recently changed first."""
        caller = await self._repository.view(caller_id)
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

    async def send(
        self, chat_id: str, message: str, *, interrupt: bool = False, after_step: bool = False
    ) -> bool:
        """Send a message to any chat; return whether that interrupted its turn."""
        before = (await self._repository.view(chat_id)).state
        transition = await self._repository.send(
            chat_id, message, interrupt=interrupt, after_step=after_step
        )
        if transition.delivery is not Delivery.ENQUEUE:
            self._turns.start(chat_id)
        elif transition.state is ChatState.INTERRUPTING or (
            interrupt and before == ChatState.REQUIRES_ACTION
        ):
            self._turns.interrupt(chat_id)
        # A queued message also starts the turn of a chat whose last end could not be recorded.
        self._turns.ensure(chat_id)
        return interrupt and before in (ChatState.RUNNING, ChatState.REQUIRES_ACTION)

    async def stop(self, chat_id: str) -> bool:
        """Interrupt any chat; return whether it was at work."""
        view = await self._repository.view(chat_id)
        # INTERRUPTING is left out: its turn ends already, and a second event would be illegal.
        if view.state not in (ChatState.QUEUED, ChatState.RUNNING, ChatState.REQUIRES_ACTION):
            return False
        await self._repository.move(chat_id, StateEvent.INTERRUPT)
        self._turns.interrupt(chat_id)
        self._turns.ensure(chat_id)
        return True

    async def end(self, chat_id: str) -> None:
        """Stop a chat, wait until it is at rest, and release its own desktop."""
        await self.stop(chat_id)
        # The recording is stored while the task ends, for which the desktop must still run.
        await self._turns.over(chat_id)
        await self._assignment.release(chat_id)

    async def _may_use(self, caller: ChatView, desktop_id: str) -> bool:
        """Return whether a chat may name a desktop: its own, one of its children, or no chat's.

        The last are for chats of owners alone, as they are in HTTP.
        """
        await self._machines.locate(desktop_id)
        if not self._machines.known(desktop_id):
            return False
        chat_id = self._machines.chat_of(desktop_id)
        if chat_id == caller.id:
            return True
        if chat_id is None:
            row = await self._store.read(lambda s: chats.get(s, caller.id))
            return self._is_owner(row.owner)
        return await self._store.read(lambda s: chats.is_descendant(s, chat_id, caller.id))

    async def _wait(
        self,
        caller_id: str,
        chat_ids: Sequence[str],
        seconds: float,
        mode: Literal["all", "any"],
    ) -> Sequence[ChildChat]:
        await self._check(caller_id, chat_ids, NOT_WAITABLE)
        patience = seconds if seconds > 0 else self._repository.settings.wait_seconds
        until = asyncio.FIRST_COMPLETED if mode == "any" else asyncio.ALL_COMPLETED
        waits = [asyncio.create_task(self._rest(chat_id)) for chat_id in chat_ids]
        try:
            await asyncio.wait(waits, timeout=patience, return_when=until)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        # Read again: a child may have ended between the time-out and here.
        return [await self._child(chat_id) for chat_id in chat_ids]

    async def _rest(self, chat_id: str) -> None:
        # Subscribe before reading the state: an end in between would be missed otherwise.
        with self._repository.hub.subscribe(chat_id) as events:
            if (await self._repository.view(chat_id)).state not in BUSY:
                return
            # A wait starts the recorder: the video then shows the time before the first call too.
            await self._recordings.ensure(chat_id)
            async for event in events:
                if event.kind in _IDLE_EVENTS or event.data.get("state") in BUSY:
                    continue
                # A message may have arrived since the event, so that the chat works again.
                if (
                    event.kind == "deleted"
                    or (await self._repository.view(chat_id)).state not in BUSY
                ):
                    return

    async def _check(self, caller_id: str, chat_ids: Sequence[str], refusal: str) -> None:
        async def work(session: AsyncSession) -> bool:
            below = [await chats.is_descendant(session, c, caller_id) for c in chat_ids]
            return all(below)

        if not await self._store.read(work):
            raise BadChatRequest(refusal)

    async def _child(self, chat_id: str) -> ChildChat:
        child = await self._store.read(lambda session: read_child(session, chat_id))
        return replace(child, view=self._repository.shown(child.view))

    def _result(self, child: ChildChat) -> Json:
        live_url = self._repository.settings.live_url(child.view.desktop_id)
        if child.view.state == ChatState.REQUIRES_ACTION:
            return asking(child, live_url, self._repository.now())
        if child.at_rest:
            return finished(child, live_url)
        position = self._assignment.position(child.view.id)
        return progress(child, live_url, position, self._repository.now())


async def _children(session: AsyncSession, caller_id: str) -> Sequence[ChatView]:
    page = await session.run_sync(
        lambda s: chats.page(s, parent=caller_id, state=None, limit=1000, cursor=None)
    )
    return sorted(page.chats, key=lambda view: (view.updated_at, view.id), reverse=True)


def _listed(view: ChatView) -> Json:
    return {**named(view), "created_at": view.created_at, "updated_at": view.updated_at}
