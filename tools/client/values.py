"""Answers of a control plane as values. Every ``…_at`` is a unix time in seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]

_BUSY = ("queued", "running", "interrupting")


@dataclass(frozen=True)
class RunQuestion:
    """What a run asks a person."""

    id: str
    kind: str
    """``question``, or ``approval``, whose answer is ``approve``, ``refuse`` or ``always``."""
    text: str


@dataclass(frozen=True)
class RunStatus:
    """State of a run, and the result of its newest turn."""

    id: str
    title: str
    state: str
    """``queued``, ``running``, ``interrupting``, ``requires_action``, ``waiting`` or ``error``."""
    outcome: str | None
    """``done``, ``failed`` or ``blocked``; None before the end."""
    report: str
    error: str | None
    error_kind: str | None
    """Machine-readable, such as ``budget`` or ``model_key``."""
    model: str | None
    steps: int
    desktop_id: str | None
    created_at: float
    ended_at: float | None
    recording_ids: tuple[str, ...] = ()
    """Ids of the stored files of the recording, in order."""
    question: RunQuestion | None = None
    everything: Json = field(default_factory=dict, repr=False)
    """The whole answer, including fields unknown to this version."""

    @property
    def busy(self) -> bool:
        """True while the agent works."""
        return self.state in _BUSY

    @property
    def done(self) -> bool:
        """True if the agent reported that the task is done."""
        return not self.busy and self.outcome == "done"


@dataclass(frozen=True)
class RunStep:
    """One tool call of a run."""

    index: int
    """Number from 0."""
    title: str
    """What it did, in words."""
    tool: str
    action: str | None
    arguments: Json
    status: str
    """``running``, ``done``, ``failed`` or ``interrupted``."""
    error: str | None
    started_at: float
    ended_at: float | None
    video_start: float | None
    """Seconds in the run's video."""
    video_end: float | None
    everything: Json = field(default_factory=dict, repr=False)
    """The whole answer, including fields unknown to this version."""


@dataclass(frozen=True)
class RunMessage:
    """One message of a run's conversation."""

    role: str
    """``user``, ``assistant`` or ``tool``."""
    text: str
    """Its texts, without calls and pictures."""
    content: tuple[Json, ...]
    created_at: float
    queued: bool
    """True if the agent has not read it yet."""


@dataclass(frozen=True)
class RunEvent:
    """Something that happened to a run."""

    id: str
    kind: str
    """Such as ``status``, ``step``, ``message``, ``text`` or ``deleted``."""
    run_id: str
    data: Json


@dataclass(frozen=True)
class PlaneDesktop:
    """A desktop of a control plane."""

    id: str
    name: str
    status: str
    run_id: str | None
    """The run that works on it."""
    created_at: float
    live_url: str
    everything: Json = field(default_factory=dict, repr=False)
    """The whole answer, including fields unknown to this version."""


@dataclass(frozen=True)
class RunFile:
    """A stored file of a run."""

    id: str
    name: str
    kind: str
    """``attachment``, ``recording``, ``thumbnail`` or ``step``."""
    media_type: str
    size: int
    """Bytes."""
    created_at: float
    pinned: bool
    """True if retention never removes it."""


@dataclass(frozen=True)
class AccessToken:
    """An access token. Its secret is known only when it was made."""

    id: str
    name: str
    scopes: tuple[str, ...]
    created_at: float
    expires_at: float | None
    secret: str = field(default="", repr=False)
    url: str = field(default="", repr=False)
    """A share link, of a token for runs only."""


@dataclass(frozen=True)
class SecretRules:
    """Name and rules of a secret; its value is never returned."""

    name: str
    runs: tuple[str, ...] | None
    """Runs that may type it; None for all."""
    domains: tuple[str, ...] | None
    """Domains into whose pages it may be typed."""
    anywhere: bool
    without_execute: bool
    kind: str = "text"
    """``totp`` if the current one-time code is typed."""
    any_field: bool = False
    """True if any field of the pages of its domains may receive it."""


def run_status(body: Json) -> RunStatus:
    """Read a run."""
    asked = body.get("requires_action")
    return RunStatus(
        id=str(body["id"]),
        title=str(body.get("title") or ""),
        state=str(body["state"]),
        outcome=body.get("outcome"),
        report=str(body.get("report") or ""),
        error=body.get("last_error"),
        error_kind=body.get("last_error_kind"),
        model=body.get("model"),
        steps=int(body.get("step_count") or 0),
        desktop_id=body.get("desktop_id"),
        created_at=float(body["created_at"]),
        ended_at=body.get("ended_at"),
        recording_ids=tuple(body.get("recording_file_ids") or ()),
        question=_question(asked) if asked else None,
        everything=body,
    )


def run_step(body: Json) -> RunStep:
    """Read a step."""
    return RunStep(
        index=int(body["index"]),
        title=str(body.get("title") or ""),
        tool=str(body["tool"]),
        action=body.get("action"),
        arguments=body.get("arguments") or {},
        status=str(body["status"]),
        error=body.get("error"),
        started_at=float(body["started_at"]),
        ended_at=body.get("ended_at"),
        video_start=body.get("video_start"),
        video_end=body.get("video_end"),
        everything=body,
    )


def run_message(body: Json) -> RunMessage:
    """Read a message."""
    content = tuple(body.get("content") or ())
    texts = [str(part["text"]) for part in content if isinstance(part.get("text"), str)]
    return RunMessage(
        role=str(body["role"]),
        text="\n".join(texts),
        content=content,
        created_at=float(body["created_at"]),
        queued=bool(body.get("queued")),
    )


def run_event(body: Json) -> RunEvent:
    """Read an event."""
    return RunEvent(
        str(body["id"]), str(body["kind"]), str(body["chat_id"]), body.get("data") or {}
    )


def plane_desktop(body: Json) -> PlaneDesktop:
    """Read a desktop."""
    return PlaneDesktop(
        id=str(body["id"]),
        name=str(body.get("name") or ""),
        status=str(body["status"]),
        run_id=body.get("chat_id"),
        created_at=float(body["created_at"]),
        live_url=str(body.get("live_url") or ""),
        everything=body,
    )


def run_file(body: Json) -> RunFile:
    """Read a stored file."""
    return RunFile(
        id=str(body["id"]),
        name=str(body["name"]),
        kind=str(body["kind"]),
        media_type=str(body["media_type"]),
        size=int(body["size"]),
        created_at=float(body["created_at"]),
        pinned=bool(body.get("pinned")),
    )


def access_token(body: Json) -> AccessToken:
    """Read a token."""
    return AccessToken(
        id=str(body["id"]),
        name=str(body.get("name") or ""),
        scopes=tuple(body["scopes"]),
        created_at=float(body["created_at"]),
        expires_at=body.get("expires_at"),
        secret=str(body.get("token") or ""),
        url=str(body.get("url") or ""),
    )


def secret_rules(body: Json) -> SecretRules:
    """Read a secret's rules."""
    runs, domains = body.get("chats"), body.get("domains")
    return SecretRules(
        name=str(body["name"]),
        runs=None if runs is None else tuple(runs),
        domains=None if domains is None else tuple(domains),
        anywhere=bool(body.get("anywhere")),
        without_execute=bool(body.get("without_execute")),
        kind=str(body.get("kind") or "text"),
        any_field=bool(body.get("any_field")),
    )


def _question(body: Json) -> RunQuestion:
    return RunQuestion(
        str(body.get("id") or ""), str(body.get("kind") or ""), str(body.get("question") or "")
    )
