"""The commands below ``deskhand playbook``, with their options."""

from typing import Annotated

import typer

from .options import AsJson, DataDir, Url, command_module

app = typer.Typer(
    no_args_is_help=True, help="Save runs as playbooks, and replay them without a model."
)


@app.command("save")
def save(
    run: Annotated[str, typer.Argument(help="Id of the chat, as in /runs/ID.")],
    name: Annotated[str | None, typer.Option(help="By default made of the run's title.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a playbook of that name.")
    ] = False,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Save a finished run as a playbook."""
    command = command_module("playbooks.playbook").save
    raise typer.Exit(command(run, name, replace, url, data_dir, as_json))


@app.command("run")
def run(
    name: Annotated[str, typer.Argument(help="A stored playbook, or a file that ends in .yaml.")],
    values: Annotated[
        list[str] | None,
        typer.Option("--set", help="Value of a parameter; may be repeated.", metavar="NAME=VALUE"),
    ] = None,
    url: Url = None,
    data_dir: DataDir = None,
    timeout: Annotated[float, typer.Option(help="Seconds to wait at most.", min=1)] = 1800.0,
    as_json: AsJson = False,
) -> None:
    """Replay a playbook on a desktop of its own; show progress and the result."""
    command = command_module("playbooks.playbook").run
    raise typer.Exit(command(name, values or [], url, data_dir, timeout, as_json))


@app.command("list")
def listing(url: Url = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the stored playbooks with their parameters."""
    raise typer.Exit(command_module("playbooks.playbook").listing(url, data_dir, as_json))


@app.command("show")
def show(name: str, url: Url = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Print the YAML of a playbook."""
    raise typer.Exit(command_module("playbooks.playbook").show(name, url, data_dir, as_json))
