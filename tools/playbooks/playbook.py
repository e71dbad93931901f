"""Values of a playbook: steps, their targets and waits, parameters and checks.

Texts may name parameters as ``{name}`` (:mod:`.texts`). Points and boxes are in pixels of a screen
of the size :attr:`Playbook.screen`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Action = Literal[
    "click",
    "double_click",
    "triple_click",
    "right_click",
    "middle_click",
    "hover",
    "drag",
    "type",
    "type_secret",
    "key",
    "scroll",
    "open_url",
    "execute",
    "wait",
]
Source = Literal["accessibility", "page"]
Direction = Literal["up", "down", "left", "right"]
Point = tuple[int, int]
Box = tuple[int, int, int, int]
"""Left, top, right and bottom edge."""

DEFAULT_SIZE = (1280, 720)
TARGET_SECONDS = 10.0
"""Default limit for the appearance of a target."""
WAIT_SECONDS = 30.0
"""Default limit of a wait."""
CHECK_SECONDS = 10.0
"""Default limit for a check to become true."""


@dataclass(frozen=True)
class Target:
    """Widget or place on the screen that a step acts on.

    It has a role or a name, or a patch, or a point; what it has is searched for in this order.
    """

    role: str = ""
    name: str = ""
    near: tuple[str, ...] = ()
    """Texts beside the widget, which select one of several with the same role and name."""
    source: Source | None = None
    """Where the widget was recorded; ``None`` if unknown."""
    point: Point | None = None
    patch: str = ""
    """File of the picture around the point, relative to the folder of the playbook."""

    @property
    def has_identity(self) -> bool:
        """True if the widget can be searched for by its role or name."""
        return bool(self.role or self.name)


@dataclass(frozen=True)
class StepWait:
    """Conditions that must hold at one moment after a step's action."""

    text: str = ""
    window: str = ""
    """Part of the title of a window."""
    url: str = ""
    """Part of the URL of a page."""
    file: str = ""
    """Path of a file that exists and is not empty."""
    changed_region: Box | None = None
    quiet_ms: int | None = None
    seconds: float | None = None
    """Pause without a condition."""
    timeout_seconds: float = WAIT_SECONDS


@dataclass(frozen=True)
class PlaybookStep:
    """One action, the place that it acts on, and the wait that ends it."""

    action: Action
    intent: str = ""
    """Purpose in the words of a person; a healing model is sent it."""
    target: Target | None = None
    to: Target | None = None
    """Where a drag ends."""
    text: str | None = None
    replace: bool | None = None
    """Whether typing replaces the field's text; ``None`` for the default of :attr:`replaces`."""
    keys: str = ""
    """Chord such as ``ctrl+s``; several, separated by blanks, are pressed one after the other."""
    holding: str = ""
    """Modifier keys that are held during a click, such as ``ctrl``."""
    secret: str = ""
    url: str = ""
    command: str = ""
    direction: Direction = "down"
    amount: int = 5
    """Notches of the wheel."""
    timeout_seconds: float = TARGET_SECONDS
    """Limit for the appearance of the target."""
    wait: StepWait | None = None

    @property
    def replaces(self) -> bool:
        """True if typing replaces the text of its target; without a target it only inserts."""
        return self.target is not None if self.replace is None else self.replace


@dataclass(frozen=True)
class FileCheck:
    """Condition on a file of the desktop; without text and digest it only has to exist."""

    path: str
    contains: str | None = None
    sha256: str = ""


@dataclass(frozen=True)
class RegionCheck:
    """Condition on the pixels of a part of the screen."""

    box: Box
    hash: str
    """Difference hash of the region, 16 hexadecimal digits."""


@dataclass(frozen=True)
class Check:
    """One condition after the last step; exactly one of its fields is set."""

    text: str = ""
    window: str = ""
    url: str = ""
    file: FileCheck | None = None
    region: RegionCheck | None = None
    timeout_seconds: float = CHECK_SECONDS


@dataclass(frozen=True)
class Parameter:
    """Value that a replay is given."""

    default: str | None = None
    """``None`` if a replay must name a value."""
    description: str = ""


@dataclass(frozen=True)
class Start:
    """State from which the steps begin."""

    url: str = ""
    command: str = ""
    """Shell command that opens an application; it is not waited for."""


@dataclass(frozen=True)
class Playbook:
    """Steps that reach a goal on a desktop."""

    name: str
    steps: tuple[PlaybookStep, ...]
    check: tuple[Check, ...] = ()
    start: Start | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    screen: tuple[int, int] = DEFAULT_SIZE
    """Size of the screen to which points and boxes refer."""
    description: str = ""
    version: int = 1
