"""The commands below ``deskhand people``, with their options."""

from typing import Annotated, Any, Literal

import typer

from .options import AsJson, DataDir, Url, command_module, plane_selector

app = typer.Typer(no_args_is_help=True, help="Let other people sign in, each with a role.")

Role = Literal["owner", "member", "watcher"]
Name = Annotated[str, typer.Argument(help="Name or id.", metavar="NAME")]


def _people() -> Any:
    return command_module("people.people")


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="A name that no other person has.", metavar="NAME")],
    role: Annotated[
        Role,
        typer.Option(help="owner: everything; member: own and shared runs; watcher: watches."),
    ] = "member",
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Add a person and print the link that signs the person in, once, within 7 days."""
    raise typer.Exit(_people().add(plane_selector(url, data_dir), name, role, as_json))


@app.command("list")
def list_people(url: Url = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the people with their roles and their last sign-in."""
    raise typer.Exit(_people().listing(plane_selector(url, data_dir), as_json))


@app.command("link")
def link(name: Name, url: Url = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Print another link that signs a person in, as for a second browser."""
    raise typer.Exit(_people().link(plane_selector(url, data_dir), name, as_json))


@app.command("role")
def role(
    name: Name,
    role: Annotated[Role, typer.Argument(help="owner, member or watcher.", metavar="ROLE")],
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Give a person another role, from the next request on."""
    raise typer.Exit(_people().change(plane_selector(url, data_dir), name, role, as_json))


@app.command("rm")
def remove(
    names: Annotated[list[str], typer.Argument(help="Names or ids.", metavar="NAME...")],
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Remove people; their sessions end at once, and their runs stay."""
    raise typer.Exit(_people().remove(plane_selector(url, data_dir), names, as_json))
