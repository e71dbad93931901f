"""All errors of the Python client.

DeskhandError
├── DesktopError             see `desktop.errors`
│   ├── InvalidAction        wrong call, nothing was done
│   ├── EmptyPicture         the picture has no bytes, as nothing has changed
│   ├── ConditionNotMet      what was awaited did not appear in time (also a TimeoutError)
│   ├── ExpectationFailed    a test expected something else (also an AssertionError)
│   ├── DesktopRefused       answered with an error status, by a desktop or a control plane
│   │   ├── DesktopOccupied  a person or another chat has control; wait
│   │   ├── DesktopBusy      no display or no capacity now; repeat
│   │   └── NotOnDesktop     no such file, window, run or desktop
│   └── DesktopUnavailable   nothing answers, or an answer was broken off
└── ClientError
    ├── NoControlPlane       none runs, or its token is not readable
    ├── RunNotStarted        the control plane did not accept the task
    ├── RunTimeout           the run has not ended in time (also a TimeoutError)
    └── NoRecording          the run has no recording
"""

from deskhand.desktop.errors import ConditionNotMet as ConditionNotMet
from deskhand.desktop.errors import DeskhandError as DeskhandError
from deskhand.desktop.errors import DesktopBusy as DesktopBusy
from deskhand.desktop.errors import DesktopError as DesktopError
from deskhand.desktop.errors import DesktopOccupied as DesktopOccupied
from deskhand.desktop.errors import DesktopRefused as DesktopRefused
from deskhand.desktop.errors import DesktopUnavailable as DesktopUnavailable
from deskhand.desktop.errors import EmptyPicture as EmptyPicture
from deskhand.desktop.errors import ExpectationFailed as ExpectationFailed
from deskhand.desktop.errors import InvalidAction as InvalidAction
from deskhand.desktop.errors import NotOnDesktop as NotOnDesktop


class ClientError(DeskhandError):
    """Base class of the errors of a control plane's client."""


class NoControlPlane(ClientError):
    """No control plane could be found; the text states what is missing."""

    advice = "Start one with `deskhand up`, or use Client.connect(url, token) or Client.launch()."


class RunNotStarted(ClientError):
    """The control plane did not accept the task; the text states the reason."""

    advice = "Correct the arguments of run(); `deskhand models` lists the models."


class RunTimeout(ClientError, TimeoutError):
    """A run has not ended in time."""

    advice = "The run continues: call wait() again, or stop()."


class NoRecording(ClientError):
    """A run has no recording."""

    advice = "A run is recorded from the first use of its desktop; wait() for the end of the run."
