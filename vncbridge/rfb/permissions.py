"""The client messages that each role may send to the desktop."""

from typing import Literal

from .messages import ClientMessage, MessageKind

Role = Literal["view", "control", "agent"]

VIEW_MESSAGES = frozenset(
    {
        *(
            MessageKind.VERSION,
            MessageKind.SECURITY,
            MessageKind.INIT,
            MessageKind.PIXEL_FORMAT,
            MessageKind.ENCODINGS,
        ),
        *(MessageKind.UPDATE_REQUEST, MessageKind.CONTINUOUS_UPDATES, MessageKind.FENCE),
        MessageKind.RESIZE,
    }
)
"""Messages of all roles. The RFB server refuses every other size, and answers with the present one.
"""

INPUT_MESSAGES = frozenset({MessageKind.KEY, MessageKind.POINTER})
"""Messages of the roles ``control`` and ``agent``, while the lease permits them.

No role may send power commands. Cut texts end here: `clipboard` copies what they offer.
"""


def passes(message: ClientMessage, role: Role) -> bool:
    """Return whether a role may send a message to the desktop."""
    return message.kind in VIEW_MESSAGES or (role != "view" and message.kind in INPUT_MESSAGES)


def is_press(message: ClientMessage) -> bool:
    """Return whether a key or button is down, so that a moving pointer takes no control."""
    return message.down or message.buttons != 0


def permitted_role(granted: Role, requested: str) -> Role:
    """Return the requested role if the credential grants it; an unknown name counts as ``view``."""
    if granted == "view" or requested not in ("control", "agent"):
        return "view"
    return "agent" if requested == "agent" else "control"
