"""Port to the choice of one control plane, of all that use a database.

It is apart from the bus (:mod:`.bus`), so that another transport of notices need not bring it.
"""

from typing import Protocol


class Leadership(Protocol):
    """Shows whether this control plane does what must be done once for a database."""

    def leads(self) -> bool:
        """Return whether this one leads now; at most one of all does."""
