"""The commands below ``deskhand desktops``, and `exec` and `cp`, with their options."""

from typing import Annotated, Any

import typer

from .options import (
    DESKTOPS,
    AsJson,
    AsJsonLines,
    DataDir,
    PrintLink,
    Url,
    command_module,
    desktop_selector,
    desktops_completed,
    form_of,
    plane_selector,
)

app = typer.Typer(no_args_is_help=True, help="List, start, end and open desktops.")
work = typer.Typer()
Wanted = Annotated[
    str,
    typer.Argument(
        help="Id of the desktop, its beginning, or its name.",
        metavar="DESKTOP",
        autocompletion=desktops_completed,
    ),
]


def _desktops() -> Any:
    return command_module("desktops.desktops")


@app.command("list")
def listing(
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
    as_lines: AsJsonLines = False,
) -> None:
    """List the desktops, the newest first."""
    form = form_of(as_json, as_lines)
    raise typer.Exit(_desktops().listing(plane_selector(url, data_dir), form))


@app.command("new")
def new(
    name: Annotated[str, typer.Option(help="A name for people.")] = "",
    template: Annotated[str, typer.Option(help="Name of a template.")] = "",
    profile: Annotated[
        str, typer.Option(help="Name of a profile of its browser, which keeps sign-ins.")
    ] = "",
    grant: Annotated[
        list[str] | None,
        typer.Option(help="An address of this machine that it may reach.", metavar="HOST:PORT"),
    ] = None,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Start a desktop, and print its id when it is ready."""
    order = {"name": name, "template": template, "profile": profile, "grants": grant}
    raise typer.Exit(_desktops().new(plane_selector(url, data_dir), order, as_json))


@app.command("rm")
def rm(
    desktops: Annotated[
        list[str],
        typer.Argument(
            help="Ids or names.", metavar="DESKTOP...", autocompletion=desktops_completed
        ),
    ],
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """End desktops; agents that work on them are stopped, their recordings are stored."""
    raise typer.Exit(_desktops().remove(plane_selector(url, data_dir), desktops, as_json))


@app.command("open")
def open_(
    desktop: Annotated[
        str | None,
        typer.Argument(
            help="By default the newest.", metavar="DESKTOP", autocompletion=desktops_completed
        ),
    ] = None,
    print_only: PrintLink = False,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Open the live view of a desktop in your browser, signed in."""
    command = _desktops().open_desktop_page
    raise typer.Exit(command(plane_selector(url, data_dir), desktop, print_only, as_json))


@work.command("exec", context_settings={"ignore_unknown_options": True}, rich_help_panel=DESKTOPS)
def exec_(
    desktop: Wanted,
    command: Annotated[
        list[str], typer.Argument(help="One word is a line of the shell.", metavar="-- COMMAND...")
    ],
    workdir: Annotated[str, typer.Option(help="Its working directory.")] = "",
    with_input: Annotated[
        bool, typer.Option("--input", "-i", help="Pass the standard input on.")
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Leave control sequences in what a terminal shows.")
    ] = False,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Run a command on a desktop: prints its output as it comes, ends with its exit code."""
    where = desktop_selector(url, data_dir, desktop)
    run = command_module("desktops.execution").execute
    raise typer.Exit(run(where, command, workdir, with_input, as_json, raw))


@work.command("cp", rich_help_panel=DESKTOPS)
def cp(
    source: Annotated[str, typer.Argument(help="A file, ID:PATH, or - for the input.")],
    target: Annotated[str, typer.Argument(help="A file or folder, ID:PATH, or - for the output.")],
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Copy a file to or from a desktop."""
    where = desktop_selector(url, data_dir, None)
    raise typer.Exit(command_module("desktops.copying").copy(where, source, target, as_json))
