"""The commands below ``deskhand recordings``, with their options."""

from pathlib import Path
from typing import Annotated

import typer

from .options import (
    AsJson,
    DataDir,
    OnDesktop,
    Url,
    command_module,
    desktop_selector,
)

app = typer.Typer(no_args_is_help=True, help="List, fetch and remove recordings.")


@app.command("list")
def recordings_list(
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the recordings of a desktop and of the control plane's runs."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(command_module("recordings").listing(where, as_json))


@app.command("get")
def recordings_get(
    recording_id: str,
    file: Annotated[Path | None, typer.Argument(help="Where the video goes.")] = None,
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Fetch a recording's video."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(command_module("recordings").get(where, recording_id, file, as_json))


@app.command("rm")
def recordings_rm(
    recording_id: str,
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Remove a recording."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(command_module("recordings").remove(where, recording_id, as_json))
