"""Responds to one action request: performs it once, or returns its recorded result again."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from deskhand.desktop.actions.catalog import Screenshot
from deskhand.desktop.actions.requests import ActionRequest, BatchRequest, picture_of
from deskhand.desktop.errors import ActionFailed
from deskhand.desktop.screenshots.options import View, view
from deskhand.desktop.tool_calls.caller import Caller
from deskhand.desktop.tool_calls.identity import action_identity
from deskhand.desktop.tool_calls.journal import Answer
from deskhand.desktop.tool_calls.once import OncePerCall, Progress

from .computer import Computer
from .outcomes import (
    SKIPPED,
    BatchOutcome,
    Json,
    Outcome,
    batch_json,
    outcome_json,
    screenshot_json,
    without_screenshots,
)

# A result with one of these failed or never began, so it has no screenshot.
_NO_PICTURE = {"message", "error"}
# `since` only spares the sending of a screenshot: a retry may name another frame.
_HINT = "since"


class ActionResponder:
    """One request of one caller."""

    def __init__(
        self, computer: Computer, request: ActionRequest | BatchRequest, caller: Caller
    ) -> None:
        self._computer = computer
        self._request = request
        self._caller = caller

    async def once(self, once: OncePerCall, digest: str, instance: str) -> Answer:
        """Return status and body of the caller's tool call, or of the request if it has none.

        ``digest`` identifies the input, ``instance`` is where the call was first sent, if known.

        Raises:
            CallRefused: If the call may have been performed already, or its id has other input.
        """
        call = action_identity(self._caller)
        once.check_instance(call, instance, self._computer.instance_id)
        (status, body), fresh = await once.run(call, digest, self._act)
        return (status, body) if fresh else (status, await self._replayed(body))

    async def _act(self, progress: Progress) -> Answer:
        journaled = _JournaledProgress(progress, self._computer.instance_id)
        outcome: Outcome | BatchOutcome
        try:
            if isinstance(self._request, BatchRequest):
                outcome = await self._computer.batch(self._request, self._caller, journaled)
            else:
                outcome = await self._computer.act(self._request, self._caller, journaled)
        except ActionFailed as error:
            fields = {"message": error.message, "detail": error.detail, "code": error.code}
            answer = (error.status, {name: text for name, text in fields.items() if text})
            # A failure is an answer too: a repeat of the call must not perform the action again.
            progress.ended(answer)
            return answer
        journaled.ended(outcome)
        return journaled.answer(outcome)

    async def _replayed(self, body: Json) -> Json:
        """Return the recorded body, with screenshots of what the screen shows now."""
        # Screenshots are not journaled, so that the journal stays small.
        again = {**body, "replayed": True}
        if "results" in again and isinstance(self._request, BatchRequest):
            again["results"] = [
                await self._with_screenshot(result, self._own_view(request))
                if result != SKIPPED
                else result
                for request, result in zip(self._request.actions, again["results"], strict=True)
            ]
        return await self._with_screenshot(again, self._view())

    async def _with_screenshot(self, body: Json, wanted: View | None) -> Json:
        if wanted is None or not _NO_PICTURE.isdisjoint(body):
            return body
        return {**body, **screenshot_json(await self._computer.picture(wanted))}

    def _view(self) -> View | None:
        """Return the view that the response carries, if any."""
        request, native = self._request, self._computer.size
        observed = request.observe is not None and request.observe.screenshot
        if isinstance(request, ActionRequest):
            return picture_of(request, native) if observed else self._own_view(request)
        if request.observe is None or not observed:
            return None
        return view(request.observe.options, request.space, native)

    def _own_view(self, request: ActionRequest) -> View | None:
        if not isinstance(request.action, Screenshot):
            return None
        return picture_of(request, self._computer.size)


def action_digest(route: str, body: Mapping[str, Any]) -> str:
    """Return a digest of a request's input: equal for equal input in any order of fields."""
    wanted = {**_without_hint(body), "observe": _without_hint(body.get("observe"))}
    text = json.dumps([route, wanted], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _without_hint(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: inner for name, inner in value.items() if name != _HINT}


class _JournaledProgress:
    """Records outcomes as the responses that they become."""

    def __init__(self, progress: Progress, instance_id: str) -> None:
        self._progress = progress
        self._instance_id = instance_id

    def began(self) -> None:
        self._progress.began()

    def ended(self, outcome: Outcome | BatchOutcome) -> None:
        status, body = self.answer(outcome)
        self._progress.ended((status, without_screenshots(body)))

    def answer(self, outcome: Outcome | BatchOutcome) -> Answer:
        """Return the status and body for an outcome."""
        if isinstance(outcome, BatchOutcome):
            return 200, batch_json(outcome, self._instance_id)
        return 200, outcome_json(outcome, self._instance_id)
