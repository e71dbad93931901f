import asyncio
import gc
from typing import Any

from deskhand.tools.cluster.placing.runner import ActionRunner


def test_work_that_is_ended_before_it_has_begun_is_not_begun() -> None:
    begun: list[str] = []

    async def work() -> None:
        begun.append("work")

    async def main() -> None:
        unused: Any = None
        runner = ActionRunner(unused, unused, unused, unused, unused, lambda: None, unused)
        runner.run("clean", work)
        await runner.close()

    asyncio.run(main())
    # A coroutine that nothing has awaited is reported when it is collected.
    gc.collect()
    assert begun == []
