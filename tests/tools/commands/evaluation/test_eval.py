"""The exit status of an evaluation."""

from pathlib import Path

import pytest

from deskhand.tools.commands.evaluation.eval import EvalOptions, exit_status, last_line, main
from deskhand.tools.evaluation.result import Mode, RunResult, Status


@pytest.mark.parametrize(
    ("statuses", "mode", "expected"),
    [
        (("passed", "passed"), "model", 0),
        (("passed", "failed"), "oracle", 1),
        (("failed", "error"), "model", 3),
        (("failed", "failed"), "wrong", 0),
        (("failed", "passed"), "wrong", 1),
        (("failed", "error"), "wrong", 3),
    ],
)
def test_the_status_names_the_worst(
    statuses: tuple[Status, ...], mode: Mode, expected: int
) -> None:
    assert exit_status([RunResult("a", 1, status) for status in statuses], mode) == expected


@pytest.mark.parametrize(
    ("options", "status", "problem"),
    [
        (EvalOptions(["order-from"], mode="oracle"), 2, "did you mean 'order-form'"),
        (EvalOptions([], settings=["efort=1"], mode="oracle"), 2, "did you mean 'effort'"),
        (EvalOptions(["order-form"], model="scripted:none"), 5, "there is no script 'none'"),
        (EvalOptions([], mode="oracle", compare=Path("/none.json")), 2, "No such file"),
        (EvalOptions([], mode="oracle", out=Path("/proc/none")), 4, "cannot be written"),
    ],
)
def test_mistakes_end_it_before_anything_is_started(
    options: EvalOptions, status: int, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(options) == status
    assert problem in capsys.readouterr().err


def test_a_task_without_the_wanted_script_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "task.yaml").write_text("name: a\nprompt: b\nchecker: {command: ls}\n")
    assert main(EvalOptions([str(tmp_path)], mode="wrong")) == 2
    assert "a: has no wrong script" in capsys.readouterr().err


def test_the_last_line_of_a_log_is_the_reason(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("one\ndeskhand: two\n\n")
    assert last_line(log) == "two"
    log.write_text("")
    assert last_line(log) == ""
