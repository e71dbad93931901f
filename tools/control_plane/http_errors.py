"""The HTTP response to each error that the routes raise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.conversation import errors as agents
from deskhand.tools.decoder.errors import DecoderEnded, NotDecodable
from deskhand.tools.fleet.errors import (
    DesktopNotStarted,
    ProfileTaken,
    UnknownDesktop,
    UnknownProfile,
)
from deskhand.tools.people import errors as people
from deskhand.tools.playbooks import errors as playbooks
from deskhand.tools.store.errors import (
    BadSecret,
    BucketUnavailable,
    BytesElsewhere,
    BytesMissing,
    DiskLow,
    StoreUnavailable,
    UnknownRow,
)
from deskhand.vncbridge.errors import ClientGone

from . import errors

_AGAIN = (429, 503)


@dataclass(frozen=True)
class ErrorResponse:
    """Status and body of a response to an error."""

    status: int
    message: str
    detail: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the body."""

    @property
    def headers(self) -> dict[str, str]:
        """``Retry-After`` (RFC 9110) where the same request may succeed a second later."""
        return {"Retry-After": "1"} if self.status in _AGAIN else {}

    def to_json(self) -> dict[str, Any]:
        """Return the JSON body."""
        body = {"message": self.message, **self.fields}
        return {**body, "detail": self.detail} if self.detail else body


CLIENT_GONE = 499
"""Status for the access log of a request whose client has left, as in nginx's log."""

# The first class that fits decides, so that a base class must come after its subclasses. An empty
# message stands for the text of the error itself.
_TABLE: tuple[tuple[type[Exception], int, str], ...] = (
    (errors.PathRefused, 400, "Path may not pass to a desktop."),
    (errors.PathNotServed, 404, "No such path on a desktop."),
    (errors.TooManyStreams, 429, ""),
    (errors.NotShared, 403, ""),
    (errors.NotVisible, 403, ""),
    (ClientGone, CLIENT_GONE, ""),
    (errors.NoSuchVideoMoment, 400, "Failed to cut clip."),
    (errors.NotCut, 409, "The recording cannot be cut."),
    (NotDecodable, 422, "The recording cannot be decoded."),
    (DecoderEnded, 503, "Nothing can be decoded."),
    (errors.ControlPlaneError, 400, ""),
    (agents.UnknownTool, 404, "Unknown tool."),
    (agents.Conflict, 409, ""),
    (agents.NoDesktop, 503, "A desktop cannot be had."),
    (agents.ChatError, 400, ""),
    (UnknownDesktop, 404, "Desktop not found."),
    (UnknownProfile, 404, "Profile not found."),
    (ProfileTaken, 409, "The profile is in use."),
    (DesktopNotStarted, 503, "The desktop could not be started."),
    (playbooks.UnknownPlaybook, 404, "Playbook not found."),
    (playbooks.PlaybookExists, 409, ""),
    (playbooks.PlaybookError, 400, "The playbook cannot be used."),
    (people.NameTaken, 409, ""),
    (people.IdentityTaken, 409, ""),
    (people.PeopleError, 400, ""),
    (BadSecret, 400, "This secret cannot be kept."),
    (StoreUnavailable, 503, "The database cannot be used."),
    (DiskLow, 507, "The disk is almost full."),
    (BucketUnavailable, 503, "The file store cannot be used."),
    (BytesElsewhere, 503, "The file is not in the file store yet."),
    (BytesMissing, 404, "File not found."),
    (DesktopRefused, 502, "The desktop refused."),
    (DesktopUnavailable, 502, "The desktop cannot be reached."),
)
FAMILIES: tuple[type[Exception], ...] = (UnknownRow, *(kind for kind, _, _ in _TABLE))
"""The errors for which :func:`answer` has a response."""


def answer(error: Exception) -> ErrorResponse:
    """Return the response to an error.

    Raises:
        ValueError: If the error is of none of the families.
    """
    if isinstance(error, errors.BadBody):
        return ErrorResponse(400, error.message, error.detail)
    # The message names the kind of the row, so that it cannot be a constant of the table.
    if isinstance(error, UnknownRow):
        return ErrorResponse(404, f"{error.kind.capitalize()} not found.", f"{error}")
    if isinstance(error, agents.QuestionClosed):
        return ErrorResponse(409, f"{error}", fields={"first": error.to_json()})
    for kind, status, message in _TABLE:
        if isinstance(error, kind):
            return (
                ErrorResponse(status, message, f"{error}")
                if message
                else ErrorResponse(status, f"{error}")
            )
    raise ValueError(f"no answer to {type(error).__name__}")
