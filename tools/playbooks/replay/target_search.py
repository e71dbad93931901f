"""Search for targets on a desktop: reads its widgets and windows, and finds a target among them.

The picture of a target is only searched for if no widget has its identity.
"""

import asyncio
from pathlib import Path
from typing import Any

from deskhand.desktop.geometry import Point, Region, Size, convert, model_size
from deskhand.desktop.targets.identity import identity_at
from deskhand.desktop.targets.patch_matches import PatchMatches, patch_matches
from deskhand.desktop.targets.widgets import ActiveWindow, ShownWidget, uncovered, widgets_of
from deskhand.tools.kit.support.spec import Machine, MachineRefused, MachineUnavailable
from deskhand.tools.playbooks.playbook import Target
from deskhand.tools.playbooks.targets.patches import patch_search
from deskhand.tools.playbooks.targets.targets import Ambiguous, Found, Missing, find_target

from .sight import Located, NotLocated, Screen

Json = dict[str, Any]

WIDGETS = "/api/v0/desktop/accessibility"
WINDOWS = "/api/v0/desktop/windows"
FIND_PATCH = "/api/v0/desktop/find-patch"
LARGEST_PATCH = 400_000
"""Bytes of a picture that a desktop searches for."""
BAD_REQUEST = 400
PATIENCE = 25.0
_DOCUMENT = "document"
_LEAST_SCROLLED = 100
"""Pixels of the shorter side of a document that is worth scrolling."""


class DesktopTargetSearch:
    """Finds targets among the widgets that a desktop reports."""

    async def screen(self, machine: Machine) -> Screen:
        """Return the size of the screen in the pixels of the computer tool."""
        native, _ = await self._widgets(machine)
        return Screen(*model_size(native))

    async def identify(self, machine: Machine, point: tuple[int, int]) -> Target | None:
        """Return the widget at a point; see ``TargetSearch``."""
        native, widgets = await self._widgets(machine)
        found = identity_at(widgets, convert(Point(*point), model_size(native), native), None)
        if found is None:
            return None
        return Target(found.role, found.name, found.near, "accessibility")

    async def find(
        self, machine: Machine, target: Target, recorded: tuple[int, int], patches: str
    ) -> Located | NotLocated:
        """Search once; see :class:`deskhand.tools.playbooks.replay.sight.TargetSearch`."""
        native, widgets = await self._widgets(machine)
        point = target.point
        scaled = None if point is None else convert(Point(*point), Size(*recorded), native)
        found = find_target(target, widgets, None, scaled)
        if isinstance(found, Missing) and target.patch:
            patch = await self._patch(machine, target, recorded, native, patches)
            found = find_target(target, widgets, patch, scaled)
        if isinstance(found, Found):
            return Located(convert(found.point, native, model_size(native)), found.by)
        if isinstance(found, Ambiguous):
            return NotLocated(_joined(found.searched), _joined(found.candidates), ambiguous=True)
        document = _document(widgets)
        scrollable = None if document is None else convert(document, native, model_size(native))
        return NotLocated(_joined(found.searched), _joined(found.seen), scrollable=scrollable)

    async def _patch(
        self,
        machine: Machine,
        target: Target,
        recorded: tuple[int, int],
        native: Size,
        folder: str,
    ) -> PatchMatches:
        """Return the places of a target's picture; none if there is no such picture."""
        picture = await asyncio.to_thread(_read, Path(folder), target.patch)
        if not picture:
            return PatchMatches((), False)
        body = patch_search(picture, target.point, recorded, native)
        try:
            return patch_matches(
                await machine.request("POST", FIND_PATCH, json=body, timeout=PATIENCE)
            )
        except MachineRefused as error:
            if error.status != BAD_REQUEST:
                raise
            # A picture of another form, which the desktop does not read.
            return PatchMatches((), False)
        except ValueError as error:
            raise MachineUnavailable(str(error)) from error

    async def _widgets(self, machine: Machine) -> tuple[Size, tuple[ShownWidget, ...]]:
        tree, windows = await asyncio.gather(
            machine.request("GET", WIDGETS, timeout=PATIENCE),
            machine.request("GET", WINDOWS, timeout=PATIENCE),
        )
        focused = next((one for one in windows["windows"] if one.get("focused")), None)
        active = None if focused is None else _active(focused)
        native = Size(tree["space"]["width"], tree["space"]["height"])
        try:
            widgets = widgets_of(tree["applications"])
        except ValueError as error:
            raise MachineUnavailable(str(error)) from error
        return native, uncovered(widgets, active)


def _active(window: Json) -> ActiveWindow:
    place = window["native_geometry"]
    left, top = place["x"], place["y"]
    region = Region(left, top, left + place["width"], top + place["height"])
    return ActiveWindow(window["title"], region)


def _document(widgets: tuple[ShownWidget, ...]) -> Point | None:
    """Return the middle of the largest page, which the wheel scrolls."""
    pages = [one for one in widgets if one.role.startswith(_DOCUMENT)]
    pages = [one for one in pages if _shorter(one) >= _LEAST_SCROLLED]
    return max(pages, key=_shorter).middle if pages else None


def _shorter(widget: ShownWidget) -> int:
    left, top, right, bottom = widget.region
    return min(right - left, bottom - top)


def _joined(parts: tuple[str, ...]) -> str:
    return "; ".join(parts) if parts else "nothing like it"


def _read(folder: Path, name: str) -> bytes:
    """Read a picture; empty if it is not in the folder, or too large."""
    path = (folder / name).resolve()
    try:
        if not path.is_relative_to(folder.resolve()) or path.stat().st_size > LARGEST_PATCH:
            return b""
        return path.read_bytes()
    except OSError:
        return b""
