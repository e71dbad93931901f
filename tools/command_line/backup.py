"""The commands ``deskhand backup`` and ``deskhand restore``, with their options."""

from typing import Annotated

import typer

from .options import SERVICE, AsJson, DataDir, command_module

app = typer.Typer()

Place = Annotated[str, typer.Argument(help="A folder or s3://BUCKET/PREFIX.", metavar="WHERE")]


@app.command(rich_help_panel=SERVICE)
def backup(
    where: Place,
    with_key: Annotated[
        bool,
        typer.Option("--with-key", help="Include the key of the secrets, under a passphrase."),
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Back the data directory up, also while Deskhand runs; only what is new is copied."""
    flags = {"data_dir": data_dir}
    raise typer.Exit(command_module("backup").backup(flags, where, with_key, as_json))


@app.command(rich_help_panel=SERVICE)
def restore(
    where: Place,
    name: Annotated[
        str | None, typer.Option("--backup", help="Its name; by default the newest one.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into an empty data directory, and verify each file."""
    flags = {"data_dir": data_dir}
    raise typer.Exit(command_module("backup").restore_into(flags, where, name, as_json))
