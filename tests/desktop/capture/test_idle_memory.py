from dataclasses import dataclass, field

from deskhand.desktop.capture.idle_memory import IDLE_SECONDS, IdleMemory


@dataclass
class Kept:
    """A part that counts how often it was asked to free memory."""

    used_at: float = 100.0
    released: int = 0

    def release(self) -> None:
        self.released += 1


@dataclass
class Desktop:
    screen: Kept | None = field(default_factory=Kept)
    renderer: Kept = field(default_factory=Kept)
    trimmed: int = 0

    def __post_init__(self) -> None:
        self.memory = IdleMemory(lambda: self.screen, self.renderer, self.trim)

    def trim(self) -> None:
        self.trimmed += 1

    @property
    def counts(self) -> tuple[int, int, int]:
        freed = 0 if self.screen is None else self.screen.released
        return freed, self.renderer.released, self.trimmed


def test_memory_is_freed_once_in_a_pause() -> None:
    desktop = Desktop()
    assert not desktop.memory.check(100.0 + IDLE_SECONDS - 0.1)
    assert desktop.counts == (0, 0, 0)
    assert desktop.memory.check(100.0 + IDLE_SECONDS)
    assert not desktop.memory.check(100.0 + 5 * IDLE_SECONDS)
    assert desktop.counts == (1, 1, 1)


def test_memory_is_freed_again_after_the_next_use() -> None:
    desktop = Desktop()
    desktop.memory.check(200.0)
    assert desktop.screen is not None
    desktop.screen.used_at = 250.0
    assert not desktop.memory.check(251.0)
    assert desktop.memory.check(300.0)
    assert desktop.counts == (2, 2, 2)


def test_nothing_is_freed_before_there_is_a_screen() -> None:
    desktop = Desktop(screen=None)
    assert not desktop.memory.check(1e6)
    assert desktop.counts == (0, 0, 0)


def test_the_c_library_returns_memory() -> None:
    screen, renderer = Kept(), Kept()
    assert IdleMemory(lambda: screen, renderer).check(200.0)
    assert (screen.released, renderer.released) == (1, 1)
