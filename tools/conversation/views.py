"""Chats, steps, messages and files as the rest of the program reads them, and their JSON.

Every ``…_at`` is a unix time in seconds; ``video_…`` are seconds of the recording's video.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

from .restrictions import ApprovalMode, ChatRestrictions
from .waiting import WaitingFor

Json = dict[str, Any]


@dataclass(frozen=True)
class UsageView:
    """Tokens of all turns of a chat."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    dropped_thinking: int = 0
    """Thinking blocks that did not fit their prefix, which the provider dropped."""
    thinking_tokens: int = 0
    """Part of the output."""
    cost_usd: float | None = 0.0
    """``None`` if the prices of a model are not known."""


@dataclass(frozen=True)
class ChatView:
    """One chat with the result of its newest turn."""

    id: str
    title: str
    state: str
    mode: str
    model: str | None
    parent_id: str | None
    root_id: str
    desktop_id: str | None
    created_at: float
    updated_at: float
    archived: bool = False
    turn: int = 0
    started_at: float | None = None
    ended_at: float | None = None
    report: str = ""
    outcome: str | None = None
    outcome_source: str | None = None
    last_error: str | None = None
    last_error_kind: str | None = None
    recording_status: str = "none"
    recording_warning: str | None = None
    end_reason: str | None = None
    complete: bool | None = None
    recording_file_ids: tuple[str, ...] = ()
    thumbnail_file_id: str | None = None
    step_count: int = 0
    queue_length: int = 0
    usage: UsageView = field(default_factory=UsageView)
    children: tuple[str, ...] = ()
    requires_action: Json | None = None
    """The open question to a person: ``kind`` and ``question``."""
    waiting_for: WaitingFor | None = None
    """Reason for which the turn does not continue now."""
    version: int = 0
    without_execute: bool = False
    """True if it has no tools to run programs."""
    approval: ApprovalMode | None = None
    """What a person must approve; None for the mode that follows from the setting and the model."""
    domains: tuple[str, ...] = ()
    """Domains of its task; empty if it has none."""
    look_only: bool = False
    """True if it may look and read, but give no input and change nothing."""
    effort: str | None = None
    """Effort of the model; None for that of the setting."""
    last_step: Json | None = None
    """Of a chat at work: ``tool``, ``action``, ``title`` and short ``arguments`` of the newest."""
    status_message: Json | None = None
    """The newest that its commands sent: ``text``, ``at``, and how many were ``dropped``."""

    @property
    def restrictions(self) -> ChatRestrictions:
        """Restrictions of what it may do by itself."""
        return ChatRestrictions(self.approval, self.domains, self.look_only)

    @property
    def recording_file_id(self) -> str | None:
        """Id of the file with the first part of the recording."""
        return self.recording_file_ids[0] if self.recording_file_ids else None

    def to_json(self) -> Json:
        """Return the chat in the form of the HTTP API, without steps and files."""
        # Not by ``asdict``, which copies all values and takes ten times as long.
        return {
            **vars(self),
            "usage": dict(vars(self.usage)),
            "waiting_for": None if self.waiting_for is None else asdict(self.waiting_for),
            "recording_file_id": self.recording_file_id,
            "recording_file_ids": list(self.recording_file_ids),
            "children": list(self.children),
            "domains": list(self.domains),
        }


@dataclass(frozen=True)
class Page:
    """A page of chats, newest first, and the cursor of the next page."""

    chats: tuple[ChatView, ...]
    next_cursor: str | None = None

    def to_json(self) -> Json:
        """Return the page in the form of the HTTP API."""
        return {"chats": [c.to_json() for c in self.chats], "next_cursor": self.next_cursor}


@dataclass(frozen=True)
class StepView:
    """One tool call of a chat."""

    id: str
    chat_id: str
    index: int
    turn: int
    tool_call_id: str
    tool: str
    title: str
    action: str | None
    arguments: Json
    status: str
    """``running``, ``done``, ``failed`` or ``interrupted``."""
    error: str | None
    started_at: float
    ended_at: float | None
    timings: Json
    """Milliseconds by stage: ``queue_ms``, ``model_first_byte_ms``, ``model_ms``, ``act_ms``,
    ``settle_ms``, ``capture_ms``, ``encode_ms``, ``own_ms`` (our own code)."""
    details: Json
    """``model_point``, ``native_point`` and ``changed_fraction`` of a computer action; ``reason``,
    the model's own, where its provider returns one; where the provider dropped thinking blocks
    before this call, ``dropped_thinking``, their number."""
    screenshot_file_id: str | None
    video_start: float | None
    video_end: float | None
    usage: Json | None = None
    """Tokens and ``cost_usd`` of the request to the model; the first call of a reply has it."""

    def to_json(self) -> Json:
        """Return the step in the form of the HTTP API."""
        return dict(vars(self))


@dataclass(frozen=True)
class MessageView:
    """One message of a chat; a queued one has no position yet."""

    id: int
    chat_id: str
    position: int | None
    role: str
    content: tuple[Json, ...]
    created_at: float

    def to_json(self) -> Json:
        """Return the message in the form of the HTTP API."""
        return {**asdict(self), "content": list(self.content), "queued": self.position is None}


@dataclass(frozen=True)
class FileView:
    """One stored file; its bytes are in the file store under ``id``."""

    id: str
    chat_id: str | None
    kind: str
    """``attachment``, ``recording``, ``thumbnail`` or ``step``."""
    name: str
    media_type: str
    size: int
    sha256: str
    created_at: float
    metadata: Json = field(default_factory=dict)
    waits: bool = False
    """Whether the bucket does not have the bytes yet; without a bucket nothing waits."""

    @property
    def pinned(self) -> bool:
        """True if retention never removes it."""
        return bool(self.metadata.get("pinned"))

    def to_json(self) -> Json:
        """Return the file in the form of the HTTP API."""
        return {**asdict(self), "pinned": self.pinned}
