"""The commands that act on one desktop, with their options."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from .options import (
    DESKTOPS,
    AsJson,
    Button,
    DataDir,
    OnDesktop,
    Url,
    command_module,
    desktop_selector,
)

app = typer.Typer()


@app.command(rich_help_panel=DESKTOPS)
def screenshot(
    file: Annotated[Path, typer.Argument(help=".png, .jpg or .webp; - for the output.")] = Path(
        "screenshot.png"
    ),
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Write a picture of a desktop to a file."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(command_module("desktops.actions").screenshot(where, file, as_json))


# A negative coordinate would otherwise be refused as an unknown option.
@app.command(context_settings={"ignore_unknown_options": True}, rich_help_panel=DESKTOPS)
def click(
    x: int,
    y: int,
    button: Annotated[Button, typer.Option(help="Which button.")] = "left",
    count: Annotated[int, typer.Option(help="2 is a double click.", min=1, max=3)] = 1,
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Click at a point of the picture that `screenshot` gives."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(command_module("desktops.actions").click(where, x, y, button, count, as_json))


@app.command("type", rich_help_panel=DESKTOPS)
def type_(
    text: Annotated[str, typer.Argument(help="Any text; - reads it from the input.")],
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Type a text."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(command_module("desktops.actions").type_text(where, text, as_json))


@app.command(rich_help_panel=DESKTOPS)
def key(
    chords: Annotated[list[str], typer.Argument(help="As Return or ctrl+s.", metavar="CHORD...")],
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Strike keys and chords, one after the other."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(command_module("desktops.actions").key(where, chords, as_json))


@app.command(rich_help_panel=DESKTOPS)
def record(
    file: Annotated[Path | None, typer.Argument(help="Where the video goes.")] = None,
    seconds: Annotated[float | None, typer.Option(help="For so long.", min=0.1)] = None,
    label: Annotated[str, typer.Option(help="What it shows.")] = "",
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Record a desktop until Ctrl-C, and fetch the video."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(command_module("recordings").record(where, file, seconds, label, as_json))


@app.command(rich_help_panel=DESKTOPS)
def forward(
    protocol: Annotated[
        Literal["vnc", "osworld", "cdp"], typer.Argument(help="What the client speaks.")
    ],
    port: Annotated[
        int | None,
        typer.Option(help="Of 127.0.0.1; by default the protocol's usual one or the next.", min=0),
    ] = None,
    listen: Annotated[
        str, typer.Option(help="unix:PATH, a socket of mode 0600, in place of a port.")
    ] = "",
    role: Annotated[
        Literal["view", "control", "agent"] | None, typer.Option(help="For vnc; see above.")
    ] = None,
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Let ordinary clients reach a desktop on a local port, without a token.

    Programs of the same user may connect, and no others. It ends with the desktop or by Ctrl-C.

    Roles of vnc. view: the screen without input. control: the connection acts for a person and
    takes control at once, in private; agents are refused until 15 s after it has ended. agent: it
    acts as an agent does, and is refused while a person is in control. Without a role it takes
    control in private when something is pressed: a program that only moves the pointer has no
    effect until then.
    """
    where = desktop_selector(url, data_dir, desktop_id)
    if listen and (port is not None or not listen.startswith("unix:")):
        raise typer.BadParameter("give either --port N or --listen unix:PATH")
    if role and protocol != "vnc":
        raise typer.BadParameter("--role is for vnc")
    options = {"protocol": protocol, "port": port, "listen": listen, "role": role}
    command = command_module("desktops.forward").command(where, options, as_json)
    os.execv(command[0], command)  # noqa: S606 - the forward takes our place, pid included
