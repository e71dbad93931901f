import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from deskhand.tools.control_plane.service.node_desktops import LEAD_SECONDS, start_leading
from deskhand.tools.store.errors import StoreUnavailable
from tests.virtual_time import play_virtually


@dataclass
class Shared:
    """What control planes share, in the places of chats, desktops and recordings."""

    called: list[str] = field(default_factory=list)
    failure: Exception | None = None

    @property
    def assignment(self) -> "Shared":
        return self

    async def leave_continued(self) -> None:
        self.called.append("leave")

    async def begin_all(self) -> None:
        self.called.append("recordings")
        if self.failure is not None:
            raise self.failure

    async def end_cut_off_calls(self) -> None:
        self.called.append("calls")

    async def take_over(self) -> None:
        self.called.append("desktops")


def rounds(shared: Shared, *leads: bool) -> list[str]:
    """Return what is called in as many rounds, in each of which the control plane leads or not."""
    leading = iter(leads)

    async def main() -> None:
        async with AsyncExitStack() as stack:
            both: Any = shared
            start_leading(stack, both, both, lambda: next(leading))
            await asyncio.sleep(LEAD_SECONDS * (len(leads) + 0.5))

    play_virtually(main)
    return shared.called


def test_each_control_plane_leaves_what_others_continue_and_one_takes_over() -> None:
    assert rounds(Shared(), False, True, False) == [
        *("leave", "leave"),
        *("recordings", "calls", "desktops", "leave"),
    ]


@pytest.mark.parametrize(
    "failure", [StoreUnavailable("the database", "it restarts"), OSError("no node")]
)
def test_what_cannot_be_taken_over_now_is_taken_over_later(
    failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    assert rounds(Shared(failure=failure), True, True) == ["leave", "recordings"] * 2
    assert str(failure) in caplog.text
