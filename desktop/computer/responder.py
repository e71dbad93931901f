"""Answers one request: does what it asks for once, or tells again what became of it."""

from deskhand.desktop.actions.catalog import Screenshot
from deskhand.desktop.actions.requests import ActionRequest, BatchRequest, picture_of
from deskhand.desktop.errors import ActionFailed
from deskhand.desktop.screenshots.options import View, view
from deskhand.desktop.tool_calls.action_journal import Answer, JournaledCall, Json
from deskhand.desktop.tool_calls.caller import Caller
from deskhand.desktop.tool_calls.errors import CallRefused
from deskhand.desktop.tool_calls.once import OncePerCall, Progress

from .computer import Computer
from .outcomes import SKIPPED, BatchOutcome, Outcome, batch_json, outcome_json, screenshot_json

# Fields of what failed or was not begun.
_NO_PICTURE = {"message", "error"}


class ActionResponder:
    """One request of one caller, and how it is answered."""

    def __init__(
        self, computer: Computer, asked: ActionRequest | BatchRequest, caller: Caller
    ) -> None:
        self._computer = computer
        self._asked = asked
        self._caller = caller

    async def once(self, once: OncePerCall, call: JournaledCall | None, instance: str) -> Answer:
        """Return status and body; ``instance`` is the one the call was first sent to, if known.

        Raises:
            CallRefused: If it may have been done already, or its id was used otherwise.
        """
        if instance and instance != self._computer.instance_id and not once.knows(call):
            raise CallRefused.unknown("It was sent to another instance of this desktop before.")
        (status, body), fresh = await once.run(call, self._act)
        return (status, body) if fresh else (status, await self._replayed(body))

    async def _act(self, progress: Progress) -> Answer:
        written = _Written(progress, self._computer.instance_id)
        outcome: Outcome | BatchOutcome
        try:
            if isinstance(self._asked, BatchRequest):
                outcome = await self._computer.batch(self._asked, self._caller, written)
            else:
                outcome = await self._computer.act(self._asked, self._caller, written)
        except ActionFailed as error:
            told = {"message": error.message, "detail": error.detail, "code": error.code}
            answer = (error.status, {name: text for name, text in told.items() if text})
            progress.ended(answer)
            return answer
        written.ended(outcome)
        return written.answer(outcome)

    async def _replayed(self, body: Json) -> Json:
        """What was answered before, with pictures of what the screen shows now."""
        again = {**body, "replayed": True}
        if "results" in again and isinstance(self._asked, BatchRequest):
            again["results"] = [
                await self._seen(result, self._own_view(request)) if result != SKIPPED else result
                for request, result in zip(self._asked.actions, again["results"], strict=True)
            ]
        return await self._seen(again, self._view())

    async def _seen(self, body: Json, wanted: View | None) -> Json:
        if wanted is None or not _NO_PICTURE.isdisjoint(body):
            return body
        return {**body, **screenshot_json(await self._computer.picture(wanted))}

    def _view(self) -> View | None:
        """The picture that the answer carries."""
        asked, native = self._asked, self._computer.size
        observed = asked.observe is not None and asked.observe.screenshot
        if isinstance(asked, ActionRequest):
            return picture_of(asked, native) if observed else self._own_view(asked)
        if asked.observe is None or not observed:
            return None
        return view(asked.observe.options, asked.space, native)

    def _own_view(self, request: ActionRequest) -> View | None:
        if not isinstance(request.action, Screenshot):
            return None
        return picture_of(request, self._computer.size)


class _Written:
    """Writes outcomes down as the answers that they become."""

    def __init__(self, progress: Progress, instance_id: str) -> None:
        self._progress = progress
        self._instance_id = instance_id

    def began(self) -> None:
        self._progress.began()

    def ended(self, outcome: Outcome | BatchOutcome) -> None:
        self._progress.ended(self.answer(outcome))

    def answer(self, outcome: Outcome | BatchOutcome) -> Answer:
        """The answer that tells an outcome."""
        if isinstance(outcome, BatchOutcome):
            return 200, batch_json(outcome, self._instance_id)
        return 200, outcome_json(outcome, self._instance_id)
