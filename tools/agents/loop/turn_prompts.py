"""The prompts of one turn: what the model is sent, and the checkpoints at which that changes.

Before a request that would be large a checkpoint is made
(:mod:`deskhand.tools.agents.checkpoints.checkpoint`):

    due ──provider's summary──> stored, with the end of its step, in one transaction
     │       └─ there is none ──> our own summary, asked for with the same history
     └─ no summary: the step has failed, the turn goes on with its history

After a limit of the provider was reached, the turn cannot go on with its history. Then a digest of
the conversation takes the place of a summary that cannot be made, and each further attempt keeps
less. If this process dies meanwhile, the next turn finds the history without the checkpoint.
"""

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from deskhand.tools.agents.checkpoints import policy
from deskhand.tools.agents.checkpoints.checkpoint import Checkpoint, SentHistory
from deskhand.tools.agents.checkpoints.own_summary import (
    SUMMARY_REQUEST,
    digest,
    summary_message,
)
from deskhand.tools.agents.checkpoints.policy import RequestSize
from deskhand.tools.agents.costs.cost import priced
from deskhand.tools.agents.providers import browser_tool
from deskhand.tools.agents.providers.append_only import first_change
from deskhand.tools.agents.providers.errors import (
    CannotCompact,
    LimitReached,
    ModelError,
    NoSummary,
)
from deskhand.tools.agents.providers.model_table import ModelFacts
from deskhand.tools.agents.providers.port import (
    CompactingModel,
    Model,
    ModelReply,
    Prompt,
    Usage,
)
from deskhand.tools.agents.providers.sent_parts import SentParts
from deskhand.tools.conversation.conversation import Message, Text
from deskhand.tools.conversation.message_pictures import picture_count
from deskhand.tools.kit.support.spec import ToolSpec

from .prepared_history import PreparedHistory, prepared
from .report import text_of, with_report

log = logging.getLogger(__name__)

SUMMARY_SECONDS = 90.0
HARD_ATTEMPTS = 3
"""Checkpoints in a row after which a request that is still too large ends the turn."""
LESS = 0.25
"""What a checkpoint keeps in comparison with the one before it that was not enough."""
AFTER_SUMMARY = "Go on from your summary."


class CheckpointedTranscript(Protocol):
    """The messages of a chat with its checkpoints; each checkpoint is a step of the chat."""

    async def messages(self) -> tuple[Message, ...]:
        """Return all messages so far, oldest first."""

    async def checkpoint(self) -> Checkpoint | None:
        """Return the newest checkpoint."""

    async def begin_checkpoint(self, reason: str) -> str:
        """Begin the step of a checkpoint; return its id."""

    async def end_checkpoint(
        self, step_id: str, made: Checkpoint | None, text: str, usage: Usage
    ) -> None:
        """End the step, and store the checkpoint with it; ``None`` if it failed for ``text``."""


class OfferedTools(Protocol):
    """The tools of a chat, as they are offered and as they are now."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools from the begin of the chat."""

    @property
    def current_specs(self) -> tuple[ToolSpec, ...]:
        """The tools that would be offered to a chat that begins now."""

    @property
    def computer(self) -> bool:
        """True if calls of the provider's computer tool are served."""


class TurnPrompts:
    """Builds the prompts of one turn, and makes its checkpoints."""

    def __init__(
        self,
        transcript: CheckpointedTranscript,
        model: Model,
        toolbox: OfferedTools,
        facts: ModelFacts,
        first: Prompt,
        keep: int | None,
        *,
        report: bool = True,
        summary_seconds: float = SUMMARY_SECONDS,
    ) -> None:
        """Take over system prompt, model and conversation from ``first``.

        ``keep`` is the number of pictures for a model that accepts a changed history. With
        ``report`` the report tool is offered too.
        """
        self._transcript = transcript
        self._model = model
        self._toolbox = toolbox
        self._facts = facts
        self._first = first
        self._keep = keep
        self._report = report
        self._summary_seconds = summary_seconds
        self._history = SentHistory(facts.provider)
        self._prepared = PreparedHistory()
        self._sent = SentParts()
        self._before: Prompt | None = None
        self._newest = RequestSize(0, 0)
        self._pause = 0
        self._hard = 0
        self.usage = Usage()
        """Tokens of the summaries."""

    async def next(self) -> Prompt:
        """Return the prompt for the next request, after a checkpoint if one is due."""
        prompt = await self._prompt()
        reason = policy.due(self._size(prompt), self._facts)
        if reason is not None and self._pause == 0 and await self._checkpoint(prompt, reason):
            self._before = await self._prompt()
            return self._before
        self._pause = max(0, self._pause - 1)
        self._check_growth(prompt)
        return prompt

    def answered(self, reply: ModelReply) -> None:
        """Note the size of the newest request."""
        self._newest = RequestSize(0, reply.usage.total, reply.request_bytes)
        self._hard = 0

    async def shorten(self, error: LimitReached) -> None:
        """Make a checkpoint after a request that was too large.

        Raises:
            LimitReached: If it was too large after earlier ones too.
        """
        self._hard += 1
        if self._hard > HARD_ATTEMPTS:
            raise error
        value = "" if error.value is None else f"{error.value:,} "
        await self._checkpoint(await self._prompt(), f"the limit of {value}{error.limit}")

    async def _prompt(self) -> Prompt:
        checkpoint = await self._transcript.checkpoint()
        history = self._history.of(await self._transcript.messages(), checkpoint)
        sent = self._prepared.prepared(history, keep=self._keep)
        changed = checkpoint.tools if checkpoint is not None else None
        return replace(
            self._first,
            messages=sent,
            tools=changed or self._offered(self._toolbox.specs),
            computer=self._toolbox.computer,
            settled=self._prepared.settled,
            sent=self._sent,
        )

    def _offered(self, specs: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        return with_report(specs) if self._report else specs

    def _size(self, prompt: Prompt) -> RequestSize:
        tokens = max(self._newest.tokens, policy.estimated_tokens(prompt.messages))
        pictures = sum(map(picture_count, prompt.messages))
        return RequestSize(pictures, tokens, self._newest.body)

    def _check_growth(self, prompt: Prompt) -> None:
        before, self._before = self._before, prompt
        changed = first_change(before, prompt) if before and self._facts.bound else None
        if changed is not None:
            # Not an error for the agent: the provider decides what it does with the request.
            log.error("a request does not continue the one before it: %s changed", changed)

    async def compact(self, reason: str) -> None:
        """Make a checkpoint now.

        Raises:
            ModelError: If there is no summary.
        """
        await self._make(await self._prompt(), reason)

    async def _checkpoint(self, prompt: Prompt, reason: str) -> bool:
        """Make a checkpoint and return True, or report why there is none."""
        try:
            await self._make(prompt, reason)
        except ModelError as error:
            log.warning("a checkpoint failed: %s", error)
            self._pause = policy.PAUSE
            return False
        return True

    async def _make(self, prompt: Prompt, reason: str) -> None:
        step = await self._transcript.begin_checkpoint(reason)
        spent = Usage()
        try:
            made, text, used = await self._made(prompt)
            spent = priced(used, self._facts.prices)
        except ModelError as error:
            if not self._hard:
                await self._transcript.end_checkpoint(step, None, str(error), spent)
                raise
            made, text = await self._digested(prompt)
        self.usage += spent
        await self._transcript.end_checkpoint(step, made, text, spent)
        self._before, self._newest = None, RequestSize(0, 0)

    async def _made(self, prompt: Prompt) -> tuple[Checkpoint, str, Usage]:
        try:
            async with asyncio.timeout(self._summary_seconds):
                if self._facts.compaction is not None and isinstance(self._model, CompactingModel):
                    with suppress(CannotCompact):
                        return await self._compacted(self._model, prompt)
                if self._hard:
                    raise NoSummary("the history does not fit into a request")
                return await self._summarized(prompt)
        except TimeoutError as error:
            raise NoSummary(f"none within {self._summary_seconds:.0f} s") from error

    async def _compacted(
        self, model: CompactingModel, prompt: Prompt
    ) -> tuple[Checkpoint, str, Usage]:
        history, first = await self._cut(own=False)
        # The messages of an earlier request, which its cache entry holds; the kept turns begin with
        # the reply to it.
        summarized = await self._before_kept(prompt, history, first)
        compacted = await model.compact(replace(prompt, messages=summarized, settled=()))
        if not compacted.blocks:
            raise NoSummary("it is empty")
        summary = [Message("assistant", compacted.blocks)]
        if first == len(history):
            summary.append(Message("user", (Text(AFTER_SUMMARY),)))
        made = await self._checkpoint_of(tuple(summary), history, first, own=False)
        made = replace(made, provider=self._facts.provider, text=compacted.text)
        return made, compacted.text, compacted.usage

    async def _summarized(self, prompt: Prompt) -> tuple[Checkpoint, str, Usage]:
        history, first = await self._cut(own=True)
        asked = Message("user", (*prompt.messages[-1].content, Text(SUMMARY_REQUEST)))
        messages = (*prompt.messages[:-1], asked)
        reply = await self._model.reply(replace(prompt, messages=messages), lambda _: None)
        text = text_of(reply.content)
        if not text.strip():
            raise NoSummary("it is empty")
        made = await self._checkpoint_of((summary_message(text),), history, first, own=True)
        return made, text, reply.usage

    async def _digested(self, prompt: Prompt) -> tuple[Checkpoint, str]:
        history, first = await self._cut(own=True)
        text = digest(await self._before_kept(prompt, history, first))
        made = await self._checkpoint_of((summary_message(text),), history, first, own=True)
        return made, text

    async def _cut(self, *, own: bool) -> tuple[tuple[Message, ...], int]:
        history = await self._transcript.messages()
        limits = policy.keep_limits(self._facts, own=own).scaled(LESS ** max(0, self._hard - 1))
        before = await self._transcript.checkpoint()
        first = policy.first_kept(history, limits, calls=own)
        # What is before the last checkpoint is not sent any more: without something new to
        # summarize, nothing is kept.
        first = len(history) if before and first <= before.first_kept else first
        if any(spec.name == browser_tool.BROWSER for spec in self._toolbox.current_specs):
            return history, first
        if not browser_tool.has_toolset(self._facts.computer):
            return history, first
        return history, policy.without_calls(history, first, browser_tool.BROWSER)

    async def _before_kept(
        self, prompt: Prompt, history: tuple[Message, ...], first: int
    ) -> tuple[Message, ...]:
        sent = self._history.of(history, await self._transcript.checkpoint())
        kept = prepared(sent[len(sent) - (len(history) - first) :], keep=None)
        return prompt.messages[: len(prompt.messages) - len(kept)]

    async def _checkpoint_of(
        self, summary: tuple[Message, ...], history: tuple[Message, ...], first: int, *, own: bool
    ) -> Checkpoint:
        before = await self._transcript.checkpoint() or Checkpoint((), 0, 0)
        current = self._offered(self._toolbox.current_specs)
        offered = before.tools or self._offered(self._toolbox.specs)
        changed = current != offered
        between = sum(map(picture_count, history[before.first_kept : first]))
        left_out = max(0, before.pictures_left_out - between)
        if own:
            kept = sum(map(picture_count, history[first:]))
            left_out = max(left_out, kept - policy.KEPT_PICTURES)
        return Checkpoint(
            summary,
            first,
            len(history),
            # A thinking block is valid with the tools that it was made with.
            len(history) if own or changed else before.thinking_from,
            left_out,
            current if changed else before.tools,
        )
