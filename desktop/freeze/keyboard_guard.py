"""Whether keys may be passed on while the agent's processes are stopped. Pure.

The X server keeps all keys for a client that has grabbed the keyboard, and a stopped one reads them
when it continues. The server does not name the client. So keys wait until no client has a grab, and
then until the requests of the stopped processes that were on their way have been processed: a grab
that is made later is that of a program that goes on, such as a menu that the person has opened.
"""

from typing import Literal

Grab = Literal["none", "grabbed", "unknown"]
"""Whether a client has grabbed the keyboard.

It is unknown without an X server, and while the server does not answer: a client may have grabbed
the server (GrabServer), and go on to grab the keyboard.
"""

SETTLED = 10
"""Checks without a grab after which no request of a stopped process is on its way any more."""


class KeyboardGuard:
    """Decides from the results of the checks; keys pass while `open` is true."""

    def __init__(self) -> None:
        self.open = False
        self._free = 0

    @property
    def settled(self) -> bool:
        """True if a grab is that of a program that goes on."""
        return self._free >= SETTLED

    def stopped_more(self) -> None:
        """Take account of a process that was stopped just now, perhaps after a grab."""
        self._free = 0

    def checked(self, found: Grab) -> None:
        """Take account of a check."""
        if found == "unknown":
            self._free = 0
        elif found == "none":
            self._free += 1
        self.open = found == "none" or self.settled
