"""A machine for checks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace


@dataclass
class Machine:
    """What a checker may ask; commands answer with what is in ``outputs``."""

    files: dict[str, bytes] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    home: str = "/home/agent"
    ran: list[list[str]] = field(default_factory=list)

    def run(self, command: Sequence[str]) -> SimpleNamespace:
        self.ran.append(list(command))
        return SimpleNamespace(status=0, output=self.outputs.get(" ".join(command), ""))

    def read_bytes(self, path: str) -> bytes:
        if path not in self.files:
            raise AssertionError(f"there is no file {path}")
        return self.files[path]

    def read_text(self, path: str) -> str:
        return self.read_bytes(path).decode()

    def urls(self) -> list[str]:
        return list(self.shown)

    def processes(self) -> list[str]:
        return list(self.running)
