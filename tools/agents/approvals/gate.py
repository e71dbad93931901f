"""The gate before each call of a model: performs it, or asks a person first, or refuses it.

A call that needs an approval is judged before anything is done for it (:mod:`.risk_rules`), except
that a desktop may be started, which knows what ends with it (:mod:`.places`). The question is asked
through the one port to people. After an approval the gate looks again at what has the keyboard: an
approval for one field is not one for another. Then it records that the call begins, so that a
restart does not perform it a second time, and lets it pass.

Calls from outside of a conversation have no gate: they are made by a person's own program.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from deskhand.desktop.durations import format_duration
from deskhand.tools.agents.questions.questions import NewQuestion, Questions
from deskhand.tools.conversation.conversation import ToolCall
from deskhand.tools.conversation.question import ChatQuestion, QuestionState
from deskhand.tools.conversation.restrictions import ChatRestrictions, default_approval
from deskhand.tools.conversation.titles import step_title
from deskhand.tools.conversation.views import ChatView
from deskhand.tools.kit.support.refused_tools import is_planned
from deskhand.tools.secrets.masking import masked_json

from .places import Places
from .question_text import question_text
from .risk_rules import (
    FocusFacts,
    ProposedCall,
    needs_focus,
    needs_places,
    required_approvals,
    shown_arguments,
)

Json = dict[str, Any]

LOOKS_ONLY = (
    "Not done: this chat only looks (look_only). It may take screenshots and read, but give no "
    "input and change nothing. Report a plan of what you would do."
)
REFUSED = "Not done: a person refused this call. Do not try to reach the same in another way."
NO_ANSWER = (
    "Not done: no person answered within {}, which counts as a refusal. Go on without it, or "
    "report what you need."
)
FOCUS_CHANGED = (
    "Not done: it was approved, but meanwhile another window or field got the keyboard. Take a "
    "screenshot before you try again."
)
BEGUN = "Not done again: it began before an interruption, and may or may not have taken effect."


@dataclass(frozen=True)
class GateDecision:
    """Decision on one call."""

    refusal: str | None = None
    """Text for the model; None if the call may be performed."""
    acknowledged: bool = False
    """True if a person approved it in view of the provider's safety checks."""
    asked: bool = False
    """True if it waited for the answer of a person."""


class CallScene(Protocol):
    """The screen on which a call would act."""

    async def focus(self) -> FocusFacts:
        """Return what has the keyboard."""

    async def places(self) -> Places:
        """Return the directories of the machine; it is started for them."""

    async def picture(self) -> str | None:
        """Store a small picture of the screen; return its file id."""


class CallGate:
    """The gate of one chat, whose restrictions name the mode of approvals."""

    def __init__(
        self,
        questions: Questions,
        chat_id: str,
        restrictions: ChatRestrictions,
        seconds: float,
    ) -> None:
        self._questions = questions
        self._chat_id = chat_id
        self._mode = restrictions.approval or "risky"
        self._restrictions = restrictions
        self._seconds = seconds

    async def of_step(self, step_id: str) -> ChatQuestion | None:
        """Return the question of a step."""
        return await self._questions.of_step(step_id)

    async def decide(
        self,
        call: ToolCall,
        step_id: str,
        scene: CallScene,
        hide: Callable[[str], str],
        *,
        continued: bool = False,
    ) -> GateDecision:
        """Decide on a call, after the answer of a person where one is needed.

        ``hide`` masks values of secrets. ``continued`` if an earlier process has asked already.
        """
        if self._restrictions.look_only and not is_planned(call.name, call.toolset):
            return GateDecision(LOOKS_ONLY)
        if continued:
            asked = await self.of_step(step_id)
            if asked is None or asked.kind != "approval" or call.name in _ASK_THEMSELVES:
                return GateDecision()
            wanted = NewQuestion(self._chat_id, step_id, call.id, "approval", asked.text)
            decision = await self._decided(call, await self._questions.ask(wanted), None)
            return replace(decision, asked=True)
        watched = self._mode != "auto" and needs_focus(call)
        focus = await scene.focus() if watched else FocusFacts()
        proposed = ProposedCall(call, focus, self._restrictions.domains)
        found = required_approvals(self._mode, proposed)
        if needs_places(found):
            proposed = replace(proposed, places=await scene.places())
            found = required_approvals(self._mode, proposed)
        if not found:
            return GateDecision()
        always = await self._questions.always_approved(self._chat_id)
        risks = required_approvals(self._mode, proposed, always)
        if not risks:
            return GateDecision()
        arguments: Json = masked_json(shown_arguments(call.arguments, risks), hide)
        title = step_title(call.name, arguments)
        question = await self._questions.ask(
            NewQuestion(
                self._chat_id,
                step_id,
                call.id,
                "approval",
                question_text(call.name, arguments, risks),
                self._seconds,
                await scene.picture(),
                {"tool": call.toolset or call.name, "title": title, "arguments": arguments}
                | ({"action": call.name} if call.toolset else {}),
                tuple(risk.rule for risk in risks),
            )
        )
        seen = (scene.focus, focus) if watched else None
        return replace(await self._decided(call, question, seen), asked=True)

    async def _decided(
        self,
        call: ToolCall,
        question: ChatQuestion,
        focus: tuple[Callable[[], Awaitable[FocusFacts]], FocusFacts] | None,
    ) -> GateDecision:
        if question.state is QuestionState.EXPIRED:
            return GateDecision(NO_ANSWER.format(format_duration(self._seconds)))
        if not question.approved:
            return GateDecision(REFUSED)
        if focus is not None:
            read, before = focus
            # The title of a window changes by itself.
            if replace(await read(), window="") != replace(before, window=""):
                return GateDecision(FOCUS_CHANGED)
        if not await self._questions.performing(question):
            return GateDecision(BEGUN)
        return GateDecision(acknowledged=bool(call.checks))


class CallGates:
    """Makes the gates of chats; ``setting`` is the mode of chats that name none, may be empty.

    ``seconds`` is the time in which an approval must be answered.
    """

    def __init__(self, questions: Questions, setting: str, seconds: float) -> None:
        self.questions = questions
        self._setting = setting
        self._seconds = seconds

    def __call__(self, view: ChatView, *, scripted: bool) -> CallGate:
        """Return the gate of a chat; ``scripted`` if no real model drives it."""
        mode = view.restrictions.approval or default_approval(self._setting, scripted=scripted)
        restrictions = replace(view.restrictions, approval=mode)
        return CallGate(self.questions, view.id, restrictions, self._seconds)


_ASK_THEMSELVES = frozenset(("request_human", "approve_mcp_server"))
