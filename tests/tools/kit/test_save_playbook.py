import asyncio
from typing import Any

import pytest

from deskhand.tools.kit.save_playbook import SavePlaybookTool
from deskhand.tools.kit.support.spec import ToolContext, ToolOutcome


class Machine:
    async def request(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("nothing is asked of a machine")


class Saving:
    def __init__(self) -> None:
        self.calls: list[tuple[str, str, str | None, bool]] = []

    async def save_for(
        self, caller: str, chat_id: str, name: str | None, *, replace: bool
    ) -> tuple[str, str]:
        self.calls.append((caller, chat_id, name, replace))
        if chat_id == "other":
            raise ValueError("only runs of your own agents can be saved")
        return name or "order", "name: order\n"


def _called(saving: Saving, **arguments: object) -> ToolOutcome:
    context = ToolContext("parent", "call-1", Machine())
    return asyncio.run(SavePlaybookTool(saving).call(arguments, context))


def test_a_run_of_a_subagent_is_saved() -> None:
    saving = Saving()
    assert _called(saving, chat_id="child").value == {
        "name": "order",
        "yaml": "name: order\n",
    }
    _called(saving, chat_id="child", name="lamps", replace=True)
    assert saving.calls == [
        ("parent", "child", None, False),
        ("parent", "child", "lamps", True),
    ]
    assert SavePlaybookTool(saving).spec.name == "save_playbook"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "chat_id is required"),
        ({"chat": "child"}, "unknown argument chat: did you mean chat_id?"),
        ({"chat_id": "other"}, "only runs of your own agents can be saved"),
    ],
)
def test_what_cannot_be_saved_is_an_error(arguments: dict[str, str], error: str) -> None:
    assert _called(Saving(), **arguments).error == error
