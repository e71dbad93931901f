"""The command ``deskhand run`` with its options."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from .options import (
    AsJson,
    AsJsonLines,
    DataDir,
    Model,
    Url,
    command_module,
    desktops_completed,
    form_of,
    given_text,
    plane_selector,
)

Task = Annotated[str, typer.Argument(help="What to do, in words; - reads it from the input.")]
OwnDesktop = Annotated[
    str | None,
    typer.Option(
        "--desktop",
        help="A running desktop; by default one of its own.",
        metavar="ID",
        autocompletion=desktops_completed,
    ),
]
Title = Annotated[str | None, typer.Option(help="A short name for lists and pages.")]
Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--file", help="A text file for its working directory; repeatable.", metavar="FILE"
    ),
]
BudgetSteps = Annotated[
    int | None, typer.Option(help="Steps after which it ends at the latest.", min=1)
]
BudgetMinutes = Annotated[
    float | None, typer.Option(help="Minutes after which it ends at the latest.", min=0.1)
]
StopAfter = Annotated[
    float | None,
    typer.Option(help="Seconds after which the agent is stopped, waiting included.", min=1),
]
Record = Annotated[
    bool, typer.Option("--record/--no-record", help="Record the desktop while it works.")
]
Detach = Annotated[
    bool, typer.Option("--detach", help="Leave the agent working, and print how to reattach.")
]
Watch = Annotated[bool, typer.Option("--watch", help="Open the page of the run in your browser.")]
Output = Annotated[
    Path | None,
    typer.Option(help="Save result, report, steps and video there.", metavar="DIR"),
]
Timeout = Annotated[float, typer.Option(help="Seconds to wait at most.", min=1)]
Approval = Annotated[
    Literal["auto", "risky", "every"] | None,
    typer.Option(help="What to ask you before it is done; by default the setting."),
]


def run(
    task: Task,
    model: Model = None,
    desktop_id: OwnDesktop = None,
    title: Title = None,
    files: Files = None,
    budget_steps: BudgetSteps = None,
    budget_minutes: BudgetMinutes = None,
    stop_after: StopAfter = None,
    record: Record = True,
    detach: Detach = False,
    watch: Watch = False,
    output: Output = None,
    timeout: Timeout = 1800.0,
    approval: Approval = None,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
    as_lines: AsJsonLines = False,
) -> None:
    """Give one task to an agent with a desktop of its own; show progress and the result.

    Ctrl-C stops the agent; a second one ends the command at once. --jsonl prints each step, then
    the result.

    Exit status: 0 done, 1 failed or blocked, 2 wrong input, 3 over budget or timeout, 4 could not
    start, 5 no model or key, 130 interrupted.
    """
    if detach and output is not None:
        raise typer.BadParameter("--output needs the end of the run, which --detach does not await")
    budget = {"steps": budget_steps, "minutes": budget_minutes}
    order = {
        "prompt": given_text(task),
        "model": model,
        "approval": approval,
        "desktop": desktop_id,
        "title": title,
        "timeout_seconds": stop_after,
        "record": None if record else False,
        "budget": {name: value for name, value in budget.items() if value is not None},
    }
    command = command_module("runs.run")
    options = command.RunOptions(
        where=plane_selector(url, data_dir),
        timeout=timeout,
        form=form_of(as_json, as_lines),
        detach=detach,
        watch=watch,
        output=output,
        files=files or (),
    )
    raise typer.Exit(command.main(order, options))
