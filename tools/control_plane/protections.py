"""What protects the machine from the control plane, for its status and the home page. Pure.

The protections of desktops are another list, which each desktop's service reports.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .ports import Json
from .process_user import ProcessUser, StaysRoot


@dataclass(frozen=True)
class PlaneProtection:
    """One protection, and what is missing of it."""

    name: str
    state: str
    because: str = ""
    """Why it is missing; else empty."""
    remedy: str = ""

    def to_json(self) -> Json:
        """Return the JSON of the status."""
        return {
            "name": self.name,
            "state": self.state,
            "because": self.because or None,
            "remedy": self.remedy or None,
        }


def plane_protections(
    user: ProcessUser | StaysRoot | None, own_name: str, decoder_refused: str
) -> Sequence[PlaneProtection]:
    """Return all protections of a control plane.

    ``user`` is what root becomes, or None for the user ``own_name``, who is not root.
    ``decoder_refused`` is why workers of the decoder have no namespaces, or empty.
    """
    if isinstance(user, StaysRoot):
        plane = PlaneProtection("control plane user", "root", user.because, user.remedy)
    else:
        plane = PlaneProtection("control plane user", own_name if user is None else user.name)
    decoder = PlaneProtection("decoder namespaces", "on")
    if decoder_refused:
        decoder = PlaneProtection(decoder.name, "none", decoder_refused, "allow namespaces")
    return plane, decoder
