"""What the placer may do. Pure values.

`subject` is what an action is about: of each subject one action runs at a time.
"""

from dataclasses import dataclass

from .situation import PlacedDesktop, RoomWait, SeenNode


@dataclass(frozen=True)
class DesktopAction:
    """An action on a desktop."""

    desktop_id: str

    @property
    def subject(self) -> str:
        """The desktop."""
        return self.desktop_id


@dataclass(frozen=True)
class StartDesktop(DesktopAction):
    """Start a desktop that is wanted on a node."""

    node: str
    address: str
    is_running: bool = False
    """True if the node has it, from a start that seemed to have failed."""


@dataclass(frozen=True)
class ResumeStart(DesktopAction):
    """Continue a start that another placer has begun; it may have succeeded."""

    node: str
    address: str
    generation: int


@dataclass(frozen=True)
class EndDesktop(DesktopAction):
    """End a desktop on its node."""

    node: str
    address: str


@dataclass(frozen=True)
class FinishEnd(DesktopAction):
    """Record the end of a desktop that runs nowhere any more."""


@dataclass(frozen=True)
class LoseDesktop(DesktopAction):
    """Record that a desktop is gone."""

    generation: int
    reason: str


@dataclass(frozen=True)
class RequeueDesktop(DesktopAction):
    """Let a desktop whose start is lost be wanted again."""

    generation: int
    reason: str


@dataclass(frozen=True)
class RefuseDesktop(DesktopAction):
    """Record that a desktop will not be started."""

    reason: str


@dataclass(frozen=True)
class ExplainWait(DesktopAction):
    """Record why a desktop waits."""

    wait: RoomWait


@dataclass(frozen=True)
class ReaddressDesktop(DesktopAction):
    """Record the new address of a desktop's node."""

    node: str
    address: str


@dataclass(frozen=True)
class ReserveRoom(DesktopAction):
    """Reserve the room that a desktop has already."""

    node: str


@dataclass(frozen=True)
class ReleaseRoom(DesktopAction):
    """Release the room of a desktop that is over."""


@dataclass(frozen=True)
class EndStray(DesktopAction):
    """End a desktop that its node should not have any more."""

    node: str
    address: str

    @property
    def subject(self) -> str:
        """The desktop on this node: another node may have the desktop of this id."""
        return stray_subject(self.desktop_id, self.node)


@dataclass(frozen=True)
class MarkNode:
    """Record why a node gets no desktops; empty if it does."""

    node: str
    reason: str

    @property
    def subject(self) -> str:
        """The node."""
        return f"node {self.node}"


@dataclass(frozen=True)
class ForgetNode:
    """Delete the row of a node that is gone for good."""

    node: str

    @property
    def subject(self) -> str:
        """The node."""
        return f"node {self.node}"


Action = DesktopAction | MarkNode | ForgetNode


def stray_subject(desktop_id: str, node: str) -> str:
    """Return the subject of ending a desktop that does not belong on a node."""
    return f"{desktop_id} on {node}"


def resumed(desktop: PlacedDesktop, node: SeenNode) -> ResumeStart:
    """Return the continuation of a desktop's start."""
    return ResumeStart(desktop.id, node.name, node.address, desktop.generation)
