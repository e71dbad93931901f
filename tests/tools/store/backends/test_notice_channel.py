"""The channel of notices without its server; with one, tests/cluster/test_bus.py."""

import asyncio
from pathlib import Path

import pytest

from deskhand.tools.store.backends.notice_channel import POLL_SECONDS, NoticeChannel
from deskhand.tools.store.backends.notice_queue import NoticeQueue
from deskhand.tools.store.backends.plane_lock import PlaneLocks
from tests.virtual_time import play_virtually


def test_without_a_connection_everything_is_read_again_every_two_seconds(tmp_path: Path) -> None:
    async def scenario() -> None:
        missed: list[float] = []
        loop, locks = asyncio.get_running_loop(), PlaneLocks("one")

        async def note() -> None:
            missed.append(loop.time())

        # The folder has no socket: an attempt to connect takes no time.
        url = f"postgresql://tester@/none?host={tmp_path}"
        channel = NoticeChannel(url, locks, NoticeQueue("one"), lambda _: None, note)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(4.5 * POLL_SECONDS):
                await channel.run()
        assert missed == pytest.approx([0.0, 2.0, 4.0, 6.0, 8.0], abs=0.01)
        assert not locks.leads()

    play_virtually(scenario)
