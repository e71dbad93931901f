import asyncio

from deskhand.tools.agents.loop.reply_work import ReplyWork
from deskhand.tools.conversation.conversation import Block, Text, ToolCall

CLICK = ToolCall("c1", "left_click", {}, "computer")
WAIT = ToolCall("c2", "wait_agent", {"chat_id": "a"})


def _is_over(work: ReplyWork) -> bool:
    async def main() -> bool:
        try:
            async with asyncio.timeout(0):
                await work.over()
        except TimeoutError:
            return False
        return True

    return asyncio.run(main())


def _begun(*reply: Block) -> ReplyWork:
    work = ReplyWork()
    work.begin(reply)
    return work


def test_a_reply_is_worked_on_until_its_calls_have_results() -> None:
    for reply in ((Text("done"),), (Text("on"), CLICK), (WAIT, CLICK)):
        work = _begun(*reply)
        assert not _is_over(work)
        work.end()
        assert _is_over(work)


def test_a_call_that_only_waits_may_be_cut_off() -> None:
    assert _is_over(ReplyWork())
    assert _is_over(_begun(WAIT))
    assert _is_over(_begun(Text("I wait."), WAIT))
