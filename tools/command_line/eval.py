"""The command ``deskhand eval`` with its options."""

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, Model, command_module


def eval_(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(
            help="Packaged tasks, files or folders; all packaged ones by default.",
            metavar="TASK|DIR...",
            show_default=False,
        ),
    ] = None,
    model: Model = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting, as effort=high; repeatable.", metavar="KEY=VALUE"),
    ] = None,
    repeat: Annotated[int, typer.Option(help="Runs of each task.", min=1, max=100)] = 1,
    parallel: Annotated[int, typer.Option(help="Runs at once.", min=1, max=64)] = 2,
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", help="Only tasks with this tag; repeatable.", metavar="TAG"),
    ] = None,
    oracle: Annotated[
        bool, typer.Option("--oracle", help="Play each task's oracle script: every task passes.")
    ] = False,
    wrong: Annotated[
        bool, typer.Option("--wrong", help="Play each task's wrong script: every task fails.")
    ] = False,
    compare: Annotated[
        Path | None, typer.Option(help="Result to compare with.", metavar="OLD.json")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for results; a new one by default.", metavar="DIR")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run tasks with a model, each on a clean desktop, and report how many it does.

    Writes result.json and a page with the recordings of failures. The form of tasks: docs/eval.md.

    Exit status: 0 all passed (with --wrong: all failed, as they must), 1 not all, 2 a mistake in a
    task or option, 3 a run could not be judged, 4 could not start, 5 model or key, 130 interrupted.
    """
    if oracle and wrong:
        raise typer.BadParameter("give either --oracle or --wrong")
    if model and (oracle or wrong):
        raise typer.BadParameter("--oracle and --wrong bring their own model")
    command = command_module("evaluation.eval")
    options = command.EvalOptions(
        tasks=tasks or (),
        tags=tags or (),
        mode="oracle" if oracle else "wrong" if wrong else "model",
        model=model,
        settings=settings or (),
        repeat=repeat,
        parallel=parallel,
        compare=compare,
        out=out,
        as_json=as_json,
    )
    raise typer.Exit(command.main(options))
