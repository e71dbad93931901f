"""The reader of targets: what it keeps, when it reads again, and how long an action waits."""

import asyncio
import base64
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from deskhand.desktop.capture.frames import Frame
from deskhand.desktop.errors import DesktopError, NoAccessibility
from deskhand.desktop.geometry import Point
from deskhand.desktop.lease.access import UnrestrictedAccess
from deskhand.desktop.targets.patch_png import read_patch
from deskhand.desktop.targets.target_reader import ScreenMoment, TargetReader
from deskhand.desktop.targets.widgets import ActiveWindow

Json = dict[str, Any]

BUTTON: Json = {"role": "button", "name": "Save", "rectangle": [100, 100, 160, 130]}
FIELD: Json = {
    "role": "entry",
    "name": "Customer",
    "rectangle": [100, 60, 160, 80],
    "states": ["focused", "editable"],
}
SCREEN = {"width": 400, "height": 300}
RANDOM = np.random.default_rng(1)
PIXELS = RANDOM.integers(0, 256, (300, 400, 4), np.uint8)


@dataclass
class Scene:
    """A screen with widgets; counts how often they are read."""

    roots: list[Json] = field(
        default_factory=lambda: [{"role": "frame", "children": [BUTTON, FIELD]}]
    )
    state: ScreenMoment = field(default_factory=lambda: ScreenMoment(Frame(PIXELS, 1, 0.0), None))
    reads: int = 0
    error: Exception | None = None
    gate: threading.Event | None = None
    private: bool = False

    def entries(self) -> Sequence[Json]:
        self.reads += 1
        if self.gate is not None:
            self.gate.wait(20)
        if self.error is not None:
            raise self.error
        return self.roots

    async def now(self) -> ScreenMoment:
        return self.state

    def paint(self, left: int, top: int, right: int, bottom: int) -> None:
        pixels = self.state.frame.pixels.copy()
        pixels[top:bottom, left:right] ^= 255
        frame = replace(self.state.frame, pixels=pixels, counter=self.state.frame.counter + 1)
        self.state = replace(self.state, frame=frame)


class Access(UnrestrictedAccess):
    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def check_view(self) -> None:
        if self._scene.private:
            raise DesktopError("a person is in private")


def played(
    scene: Scene, play: Callable[[TargetReader], Coroutine[Any, Any, None]], longest: float = 20.0
) -> None:
    async def run() -> None:
        with closing(TargetReader(scene, scene.now, Access(scene), longest)) as reader:
            await play(reader)

    asyncio.run(run())


def test_a_click_has_the_widget_and_the_pixels_at_its_point() -> None:
    async def play(reader: TargetReader) -> None:
        (found,) = await reader.targets([Point(130, 115)])
        assert found is not None
        patch = read_patch(base64.b64decode(found.pop("patch")))
        x, y = found.pop("patch_point")
        assert (patch.pixels[y, x] == PIXELS[115, 130, 2::-1]).all()
        assert found == {
            **{"role": "button", "name": "Save", "near": [], "rectangle": [100, 100, 160, 130]},
            **{"source": "accessibility", "native_point": [130, 115], "screen": SCREEN},
        }

    played(Scene(), play)


def test_pixels_of_typed_content_are_not_in_a_patch() -> None:
    async def play(reader: TargetReader) -> None:
        (beside,) = await reader.targets([Point(130, 90)])
        assert beside is not None
        patch = read_patch(base64.b64decode(beside["patch"]))
        assert patch.ignored is not None
        assert patch.ignored[0:10].any()
        assert not patch.pixels[patch.ignored].any()
        (inside,) = await reader.targets([Point(130, 70)])
        assert inside is not None
        assert (inside["name"], "patch" in inside) == ("Customer", False)

    played(Scene(), play)


def test_keys_have_the_widget_with_the_focus_and_no_patch() -> None:
    async def play(reader: TargetReader) -> None:
        (found,) = await reader.targets([])
        assert found is not None
        assert (found["name"], "patch" in found) == ("Customer", False)

    played(Scene(), play)


def test_without_a_focus_keys_have_no_target() -> None:
    async def play(reader: TargetReader) -> None:
        assert await reader.targets([]) == [None]

    played(Scene([BUTTON]), play)


def test_an_unnamed_place_has_its_point_and_pixels_only() -> None:
    async def play(reader: TargetReader) -> None:
        (first, last) = await reader.targets([Point(300, 200), Point(350, 250)])
        assert first is not None
        assert set(first) == {"native_point", "screen", "patch", "patch_point"}
        assert last is not None
        assert last["native_point"] == [350, 250]

    played(Scene(), play)


def test_a_plain_place_has_no_patch() -> None:
    scene = Scene(state=ScreenMoment(Frame(np.zeros((300, 400, 4), np.uint8), 1, 0.0), None))

    async def play(reader: TargetReader) -> None:
        assert await reader.targets([Point(300, 200)]) == [
            {"native_point": [300, 200], "screen": SCREEN}
        ]

    played(scene, play)


@pytest.mark.parametrize(
    ("change", "reads"),
    [
        (lambda scene: None, 1),
        (lambda scene: scene.paint(300, 200, 390, 290), 1),  # Elsewhere.
        (lambda scene: scene.paint(130, 110, 132, 125), 1),  # A caret.
        (lambda scene: scene.paint(110, 100, 150, 120), 2),
        (
            lambda scene: setattr(
                scene, "state", replace(scene.state, window=ActiveWindow("Other"))
            ),
            2,
        ),
    ],
)
def test_what_was_read_ahead_is_used_if_the_place_looks_the_same(
    change: Callable[[Scene], None], reads: int
) -> None:
    scene = Scene()

    async def play(reader: TargetReader) -> None:
        reader.prefetch()
        await reader.targets([Point(130, 115)])
        change(scene)
        (found,) = await reader.targets([Point(130, 115)])
        assert found is not None
        assert scene.reads == reads

    played(scene, play)


def test_another_size_of_the_screen_is_another_screen() -> None:
    scene = Scene()

    async def play(reader: TargetReader) -> None:
        await reader.targets([Point(130, 115)])
        scene.state = ScreenMoment(Frame(PIXELS[:250], 1, 0.0), None)
        await reader.targets([Point(130, 115)])
        assert scene.reads == 2

    played(scene, play)


@pytest.mark.parametrize("error", [NoAccessibility("no bus"), RuntimeError("closed")])
def test_without_widgets_the_target_is_unknown(error: Exception) -> None:
    async def play(reader: TargetReader) -> None:
        assert await reader.targets([Point(1, 1), Point(2, 2)]) == [None, None]

    played(Scene(error=error), play)


def test_an_error_of_ours_does_not_stop_the_action() -> None:
    async def play(reader: TargetReader) -> None:
        assert await reader.targets([]) == [None]

    played(Scene([{"rectangle": 3}]), play)


def test_an_action_waits_for_a_slow_read_no_longer_than_the_limit() -> None:
    scene = Scene(gate=threading.Event())

    async def play(reader: TargetReader) -> None:
        assert scene.gate is not None
        assert await reader.targets([Point(130, 115)]) == [None]
        assert await reader.targets([Point(130, 115)]) == [None]
        assert scene.reads == 1
        scene.gate.set()

    played(scene, play, 0.01)


def test_nothing_is_read_in_private() -> None:
    scene = Scene(private=True)

    async def play(reader: TargetReader) -> None:
        assert await reader.targets([Point(130, 115)]) == [None]
        assert scene.reads == 0

    played(scene, play)


def test_what_was_read_is_discarded_if_a_person_goes_private_meanwhile() -> None:
    scene = Scene()

    async def play(reader: TargetReader) -> None:
        await reader.targets([Point(130, 115)])
        scene.private = True
        with pytest.raises(DesktopError):
            await reader.targets([Point(130, 115)])

    played(scene, play)
