"""A fake machine with configured responses, which records its requests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.tools.kit.support.spec import ToolContext

Answer = Any | Exception


@dataclass(frozen=True)
class Asked:
    """One request that a tool sent."""

    method: str
    path: str
    json: Any
    content: bytes | None
    params: Mapping[str, str]


class FakeMachine:
    """Responds by route: the n-th request to a route gets the n-th response, then the last one."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answers: dict[str, list[Answer]] = {}
        self.on_request: Callable[[Asked], None] = lambda _: None

    def answer(self, route: str, *answers: Answer) -> None:
        """Set the responses of a route: values, or errors to raise."""
        self.answers[route] = list(answers)

    def to(self, route: str) -> list[Asked]:
        """Return the requests to a route, by the end of its path."""
        return [asked for asked in self.asked if asked.path.endswith(route)]

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        asked = Asked(method, path, json, content, params or {})
        self.asked.append(asked)
        self.on_request(asked)
        for route, answers in self.answers.items():
            if path.endswith(route):
                answer = answers.pop(0) if len(answers) > 1 else answers[0]
                if isinstance(answer, Exception):
                    raise answer
                return answer
        raise AssertionError(f"no answer was given for {method} {path}")

    def context(self, call_id: str = "call-1") -> ToolContext:
        """Return a context on this machine."""
        return ToolContext("11111111-2222-3333-4444-555555555555", call_id, self)
