"""A turn whose only work is a checkpoint, because a person asked for one."""

from dataclasses import dataclass
from typing import Protocol

from deskhand.tools.agents.providers.errors import ModelError
from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.providers.port import Model, Prompt
from deskhand.tools.conversation.conversation import Message, Text
from deskhand.tools.kit.support.spec import ToolSpec

from .turn import LoopSettings, TurnEnd
from .turn_prompts import CheckpointedTranscript, TurnPrompts

REASON = "a person's request"
REQUESTED = "The conversation so far is summarized here. Do not reply to this message."
"""Message after a reply of the model: models refuse a request that ends with their own words."""


@dataclass(frozen=True)
class KnownTools:
    """Tools of a chat that are offered, but not called."""

    specs: tuple[ToolSpec, ...]
    current_specs: tuple[ToolSpec, ...]
    computer: bool


class CompactedTranscript(CheckpointedTranscript, Protocol):
    """The messages of a chat with its checkpoints, to which one may be appended."""

    async def append(self, message: Message) -> None:
        """Store a message."""


async def run_compaction(
    transcript: CompactedTranscript, model: Model, tools: KnownTools, settings: LoopSettings
) -> TurnEnd:
    """Make a checkpoint of the whole conversation; a failure is the end of the turn.

    Cancelling leaves the conversation without the checkpoint.
    """
    messages = await transcript.messages()
    if messages and messages[-1].role == "assistant":
        await transcript.append(Message("user", (Text(REQUESTED),)))
    facts = model_facts(settings.model)
    first = Prompt(
        *(settings.system, (), (), tools.computer, settings.model, settings.max_tokens),
        conversation=settings.conversation,
        effort=settings.effort,
    )
    keep = None if facts.bound else settings.kept_pictures
    prompts = TurnPrompts(transcript, model, tools, facts, first, keep, report=settings.report)
    error: ModelError | None = None
    try:
        await prompts.compact(REASON)
    except ModelError as failure:
        error = failure
    return TurnEnd(
        outcome="done" if error is None else "failed",
        report="",
        outcome_source="assumed",
        error=None if error is None else str(error),
        error_kind=None if error is None else error.kind,
        steps=0,
        usage=prompts.usage,
    )
