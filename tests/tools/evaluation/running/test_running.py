"""The environment of the control plane of an evaluation."""

from pathlib import Path

import pytest

from deskhand.tools.evaluation.result import Mode
from deskhand.tools.evaluation.running.running import EvaluationOrder, plane_environment
from deskhand.tools.evaluation.task import Checker, Task

TASK = Task("a", "Do it.", Checker(command=("true",)), Path("/"))
GIVEN = {
    "ANTHROPIC_API_KEY": "real",
    "OPENAI_API_KEY": "real",
    "DESKHAND_APPROVAL": "risky",
    "DESKHAND_NOTIFY_URL": "https://example.com",
    "PATH": "/bin",
}


def environment(mode: Mode, *, root: bool = True, **settings: str) -> dict[str, str]:
    order = EvaluationOrder((TASK,), mode, None, tuple(settings.items()), 1, 4)
    return plane_environment(GIVEN, order, ["127.0.0.1:1", "127.0.0.1:2"], root)


def test_nobody_is_asked_and_only_the_pages_are_reached() -> None:
    found = environment("model")
    assert found["DESKHAND_APPROVAL"] == "auto"
    assert found["DESKHAND_EGRESS"] == "none"
    assert found["DESKHAND_EGRESS_GRANTS"] == "127.0.0.1:1,127.0.0.1:2"
    assert found["DESKHAND_MOST_DESKTOPS"] == "5"
    assert "DESKHAND_NOTIFY_URL" not in found
    assert (found["PATH"], found["OPENAI_API_KEY"]) == ("/bin", "real")


def test_without_root_desktops_share_the_network() -> None:
    assert environment("model", root=False)["DESKHAND_EGRESS"] == "open"


def test_given_settings_come_last() -> None:
    assert environment("model", approval="every")["DESKHAND_APPROVAL"] == "every"


@pytest.mark.parametrize("mode", ["oracle", "wrong"])
def test_scripts_get_no_key_of_a_provider(mode: Mode) -> None:
    assert not {"ANTHROPIC_API_KEY", "OPENAI_API_KEY"} & set(environment(mode))
