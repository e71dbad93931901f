"""Most tables of the database. A change here needs a migration; a test compares the two."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Computed,
    ForeignKey,
    Index,
    Integer,
    UniqueConstraint,
    false,
    true,
)
from sqlalchemy.orm import Mapped, mapped_column

from .tables.base import Base, ChatKey, HasFiles, Json, rows_where


class ChatRow(Base):
    """A conversation; a child chat is a subagent."""

    __tablename__ = "chats"

    id: Mapped[str] = mapped_column(primary_key=True)
    parent_id: Mapped[str | None] = mapped_column(
        ForeignKey("chats.id", ondelete="CASCADE"), index=True
    )
    root_id: Mapped[str] = mapped_column(index=True)
    title: Mapped[str]
    mode: Mapped[str]
    model: Mapped[str | None]
    state: Mapped[str] = mapped_column(index=True)
    archived: Mapped[bool] = mapped_column(default=False)
    requested_desktop: Mapped[str | None] = mapped_column("desktop_wish")
    """``own``, ``shared`` or a desktop's id; the column has its name from the first version."""
    desktop_id: Mapped[str | None]
    token_name: Mapped[str | None] = mapped_column(unique=True)
    """The token whose default chat this is."""
    owner: Mapped[str] = mapped_column(default="owner")
    """Id of the credential that created the chat or its root; ``owner`` for the service's own."""
    budget: Mapped[Json] = mapped_column(default=dict)
    egress: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """Egress of its own desktop; null for that of the control plane's settings."""
    without_execute: Mapped[bool] = mapped_column(default=False, server_default=false())
    approval: Mapped[str | None]
    """``auto``, ``risky`` or ``every``; null for the mode of the setting and the model."""
    domains: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
    look_only: Mapped[bool] = mapped_column(default=False, server_default=false())
    status_message: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """The newest of its commands: ``text``, ``at``, and how many were ``dropped``."""
    effort: Mapped[str | None]
    """Of the model; null for the effort of the setting."""
    turn: Mapped[int] = mapped_column(default=0)
    version: Mapped[int] = mapped_column(default=0)
    driver: Mapped[str | None]
    """Control plane that drives its turn, of several on one database."""
    generation: Mapped[int] = mapped_column(default=0, server_default="0")
    """Raised each time that a control plane claims it."""
    person_since: Mapped[float | None]
    """Since when its turn waits for a person in control, of several control planes."""
    person_reported: Mapped[str | None]
    """Mark of the newest session of a person in control that was reported to its model."""
    created_at: Mapped[float] = mapped_column(index=True)
    updated_at: Mapped[float]


class ChatHeadRow(Base):
    """The beginning of every prompt of a chat: system prompt and tools. It never changes."""

    __tablename__ = "chat_heads"

    chat_id: Mapped[ChatKey]
    content: Mapped[Json]
    created_at: Mapped[float]


class ChatStartRow(Base):
    """What a chat starts with, if anything of it differs from the defaults."""

    __tablename__ = "chat_starts"

    chat_id: Mapped[ChatKey]
    workdir: Mapped[str] = mapped_column(default="", server_default="")
    """Directory below the working directory of the root chat."""
    files: Mapped[list[Json] | None] = mapped_column(JSON(none_as_null=True))
    """Files to put there before the first step; null when they are there."""
    template: Mapped[str | None]
    profile: Mapped[str | None]
    timeout_seconds: Mapped[float | None]
    record: Mapped[bool] = mapped_column(default=True, server_default=true())
    created_at: Mapped[float]


class CheckpointRow(Base):
    """A checkpoint of a chat; what its requests contain in place of older messages."""

    __tablename__ = "checkpoints"

    id: Mapped[int] = mapped_column(primary_key=True)
    chat_id: Mapped[str] = mapped_column(ForeignKey("chats.id", ondelete="CASCADE"), index=True)
    turn: Mapped[int]
    step_id: Mapped[str]
    """The step that shows it."""
    content: Mapped[Json]
    created_at: Mapped[float]


class TurnRow(Base):
    """The work on one message, up to the next rest of the chat; a wait returns its result."""

    __tablename__ = "turns"
    __table_args__ = (
        UniqueConstraint("chat_id", "number"),
        Index("ix_turns_recorded", "chat_id", **rows_where("recorded")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    chat_id: Mapped[str] = mapped_column(ForeignKey("chats.id", ondelete="CASCADE"))
    number: Mapped[int]
    status: Mapped[str]
    """``running``, ``done``, ``failed`` or ``interrupted``."""
    started_at: Mapped[float]
    ended_at: Mapped[float | None]
    report: Mapped[str] = mapped_column(default="")
    outcome: Mapped[str | None]
    outcome_source: Mapped[str | None]
    error: Mapped[str | None]
    error_kind: Mapped[str | None]
    input_tokens: Mapped[int] = mapped_column(default=0)
    output_tokens: Mapped[int] = mapped_column(default=0)
    cache_read_tokens: Mapped[int] = mapped_column(default=0)
    cache_write_tokens: Mapped[int] = mapped_column(default=0)
    work: Mapped[str | None]
    """``compact`` for a turn that only makes a checkpoint; null for the work on a message."""
    last_step_hash: Mapped[str | None]
    """Hash of its last step, see ``step_hash``; ``None`` until the turn ends."""
    dropped_thinking: Mapped[int] = mapped_column(default=0)
    """Thinking blocks that the provider dropped from requests; more than 0 is a defect."""
    thinking_tokens: Mapped[int] = mapped_column(default=0, server_default="0")
    cost_usd: Mapped[float | None] = mapped_column(default=0.0)
    """``None`` if it is not known, as in turns of earlier versions."""
    recording: Mapped[Json] = mapped_column(default=dict)
    recorded: Mapped[bool | None] = mapped_column(
        Computed(HasFiles(), persisted=True), deferred=True
    )
    """True if the recording has files; the database computes it for the index."""


class MessageRow(Base):
    """One message; a queued one has no position until a turn takes it: the next, or at work."""

    __tablename__ = "messages"
    # NULLs are distinct in a unique constraint, so that any number of messages may be queued.
    __table_args__ = (UniqueConstraint("chat_id", "position"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    chat_id: Mapped[str] = mapped_column(ForeignKey("chats.id", ondelete="CASCADE"))
    position: Mapped[int | None]
    role: Mapped[str]
    content: Mapped[list[Json]]
    created_at: Mapped[float]
    after_step: Mapped[bool] = mapped_column(default=False, server_default=false())


class FileRow(Base):
    """Properties of a stored file; the bytes are in the file store under the same id, or packed."""

    __tablename__ = "files"
    __table_args__ = (Index("ix_files_pack", "pack", **rows_where("pack IS NOT NULL")),)

    id: Mapped[str] = mapped_column(primary_key=True)
    chat_id: Mapped[str | None] = mapped_column(
        ForeignKey("chats.id", ondelete="SET NULL"), index=True
    )
    kind: Mapped[str]
    name: Mapped[str]
    media_type: Mapped[str]
    size: Mapped[int] = mapped_column(BigInteger().with_variant(Integer(), "sqlite"))
    sha256: Mapped[str]
    created_at: Mapped[float]
    details: Mapped[Json] = mapped_column(default=dict)
    waits: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Whether the bytes are on the disk of one control plane alone, until the bucket has them."""
    pack: Mapped[str | None]
    """Of a picture that is packed in the bucket, the id of the pack; ``size`` bytes of it."""
    pack_start: Mapped[int | None] = mapped_column(BigInteger().with_variant(Integer(), "sqlite"))
    """Position of the first byte in the pack."""


class ChatFileRow(Base):
    """A file in the list of a chat; a recording is listed with the parent of the chat it shows."""

    __tablename__ = "chat_files"

    chat_id: Mapped[ChatKey]
    file_id: Mapped[str] = mapped_column(
        ForeignKey("files.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    created_at: Mapped[float]


class StepRow(Base):
    """One tool call of a chat, with its result."""

    __tablename__ = "steps"
    __table_args__ = (
        UniqueConstraint("chat_id", "index"),
        Index("ix_steps_call", "chat_id", "tool_call_id"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    chat_id: Mapped[str] = mapped_column(ForeignKey("chats.id", ondelete="CASCADE"))
    turn: Mapped[int]
    index: Mapped[int]
    tool_call_id: Mapped[str]
    tool: Mapped[str]
    title: Mapped[str]
    action: Mapped[str | None]
    arguments: Mapped[Json]
    status: Mapped[str]
    error: Mapped[str | None]
    # Otherwise ``None`` would be stored as the JSON value null, which is not NULL in SQL.
    result: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """The blocks that the model received, so that a repeated call gets the same result."""
    plane: Mapped[str | None]
    """Control plane that runs a call from outside of a turn, of several on one database."""
    started_at: Mapped[float]
    ended_at: Mapped[float | None]
    timings: Mapped[Json] = mapped_column(default=dict)
    """Milliseconds by stage."""
    details: Mapped[Json] = mapped_column(default=dict)
    """Of a computer action: the point, and the fraction of the screen that changed."""
    usage: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """Tokens and ``cost_usd`` of the request to the model, with the first call of its reply."""
    # ON DELETE SET NULL looks the file up here: without an index it reads the whole table.
    screenshot_file_id: Mapped[str | None] = mapped_column(
        ForeignKey("files.id", ondelete="SET NULL"), index=True
    )
    video_start: Mapped[float | None]
    video_end: Mapped[float | None]


class StepTargetRow(Base):
    """What a step's action was aimed at; a drag has two, where it begins and where it ends."""

    __tablename__ = "step_targets"

    step_id: Mapped[str] = mapped_column(
        ForeignKey("steps.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True)
    role: Mapped[str]
    """Empty, like the name, if no widget could be named."""
    name: Mapped[str]
    near: Mapped[Json]
    """Texts beside the widget, as ``{"texts": [...]}``."""
    x: Mapped[int | None]
    """The point in native pixels; ``None`` for keys."""
    y: Mapped[int | None]
    screen_width: Mapped[int]
    screen_height: Mapped[int]
    patch: Mapped[bytes | None]
    """PNG of the pixels around the point."""
    patch_x: Mapped[int | None]
    """The point's position in the patch."""
    patch_y: Mapped[int | None]


class AuditRow(Base):
    """A record of the audit log; triggers refuse its change, and its removal for 400 days."""

    __tablename__ = "audit"

    writer: Mapped[str] = mapped_column(primary_key=True)
    """The control plane that wrote it; its records are numbered and linked by their hashes."""
    n: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[float] = mapped_column(index=True)
    actor: Mapped[str]
    action: Mapped[str]
    subject: Mapped[str]
    details: Mapped[Json]
    previous: Mapped[str]
    hash: Mapped[str]


class IssuedTokenRow(Base):
    """A token that was issued, such as a share link; it works until it ends or is revoked."""

    __tablename__ = "issued_tokens"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    scopes: Mapped[list[str]] = mapped_column(JSON)
    created_at: Mapped[float]
    ends_at: Mapped[float | None]
    """Null for a token that works until it is revoked."""
    digest: Mapped[str] = mapped_column(unique=True)
    """Of the token itself, which is not stored."""
    created_by: Mapped[str] = mapped_column(server_default="")
    """Name of the credential that it was issued with."""


class BrowserSessionRow(Base):
    """A browser that signed in, by the digest of its cookie."""

    __tablename__ = "browser_sessions"

    digest: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    scopes: Mapped[list[str]] = mapped_column(JSON)
    ends_at: Mapped[float]
    token_id: Mapped[str] = mapped_column(index=True)
    """The issued token that it was exchanged for; empty after a login code."""


class McpApprovalRow(Base):
    """Approval of one definition of an MCP server, for the chats of one owner."""

    __tablename__ = "mcp_approvals"

    owner: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(primary_key=True)
    chat_id: Mapped[str]
    """The chat that asked last; no key, as the approval outlives it."""
    name: Mapped[str]
    question: Mapped[str]
    state: Mapped[str]
    """``approved`` or ``refused``; ``withdrawn`` in rows of earlier versions."""
    asked_at: Mapped[float]
    changed_at: Mapped[float]


class ActivityRow(Base):
    """Something that a person did in a run, see ``deskhand.tools.run_activities``."""

    __tablename__ = "run_activities"

    id: Mapped[int] = mapped_column(primary_key=True)
    chat_id: Mapped[str] = mapped_column(ForeignKey("chats.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str]
    by: Mapped[str]
    text: Mapped[str]
    at: Mapped[float]


class NotificationRow(Base):
    """An event that waits to be sent to the webhook."""

    __tablename__ = "notifications"

    id: Mapped[str] = mapped_column(primary_key=True)
    chat_id: Mapped[str] = mapped_column(ForeignKey("chats.id", ondelete="CASCADE"), index=True)
    question_id: Mapped[str | None]
    body: Mapped[Json]
    created_at: Mapped[float]
    attempts: Mapped[int]
    next_at: Mapped[float]


class LeftRecordingRow(Base):
    """A recording that a dead desktop left, until it is stored with its chat and removed there."""

    __tablename__ = "left_recordings"
    __table_args__ = (UniqueConstraint("desktop_id", "recording_id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    desktop_id: Mapped[str] = mapped_column(index=True)
    recording_id: Mapped[str] = mapped_column(index=True)
    """Of an agent's recording, the id of its chat; no key, as the chat may be deleted before."""
    state: Mapped[str]
    """``left``, ``copied``, ``verified``, ``stored`` or ``removed``."""
    found_at: Mapped[float]
    stored_at: Mapped[float | None]
    staying: Mapped[list[Json] | None]
    """Takes to copy while the desktop runs: ``metadata`` of the recorder and ``end_reason``."""
