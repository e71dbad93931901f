"""More commands that act on one desktop, with their options."""

from pathlib import Path
from typing import Annotated, Any, Literal

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
Seconds = Annotated[float, typer.Option(help="How long the movement takes.", min=0, max=60)]
WindowAction = Literal["list", "focus", "maximize", "minimize", "restore", "close"]
# A negative coordinate would otherwise be refused as an unknown option.
NEGATIVE: dict[str, Any] = {"ignore_unknown_options": True}


def _verbs() -> Any:
    return command_module("desktops.verbs")


@app.command(context_settings=NEGATIVE, rich_help_panel=DESKTOPS)
def scroll(
    x: int,
    y: int,
    direction: Annotated[
        Literal["up", "down", "left", "right"], typer.Option(help="Where to.")
    ] = "down",
    notches: Annotated[int, typer.Option(help="Of the wheel.", min=1, max=100)] = 3,
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Turn the wheel at a point."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(_verbs().scroll(where, x, y, direction, notches, as_json))


@app.command(context_settings=NEGATIVE, rich_help_panel=DESKTOPS)
def drag(
    path: Annotated[
        list[int], typer.Argument(help="Two points or more.", metavar="X1 Y1 X2 Y2...")
    ],
    seconds: Seconds = 0.2,
    button: Annotated[Button, typer.Option(help="Which button.")] = "left",
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Drag along points with a button pressed."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(_verbs().drag(where, path, seconds, button, as_json))


@app.command(context_settings=NEGATIVE, rich_help_panel=DESKTOPS)
def move(
    x: int,
    y: int,
    seconds: Seconds = 0.0,
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Move the pointer."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(_verbs().move(where, x, y, seconds, as_json))


@app.command(rich_help_panel=DESKTOPS)
def zoom(
    x: int,
    y: int,
    width: Annotated[int, typer.Argument(min=1)],
    height: Annotated[int, typer.Argument(min=1)],
    file: Annotated[Path, typer.Argument(help=".png, .jpg or .webp; - for the output.")] = Path(
        "zoom.png"
    ),
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Write a picture of a region in all its pixels."""
    where = desktop_selector(url, data_dir, desktop_id)
    region = (x, y, x + width, y + height)
    raise typer.Exit(_verbs().zoom(where, region, file, as_json))


@app.command(context_settings=NEGATIVE, rich_help_panel=DESKTOPS)
def launch(
    target: Annotated[str, typer.Argument(help="Name of an application, address or /path.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments of the application.")
    ] = None,
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Start an application, or open a page or a file."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(_verbs().launch(where, target, arguments or [], as_json))


@app.command(rich_help_panel=DESKTOPS)
def windows(
    action: Annotated[WindowAction, typer.Argument(help="What to do.")] = "list",
    window: Annotated[int | None, typer.Argument(help="Id of the window.")] = None,
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the windows, or change one."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(_verbs().windows(where, action, window, as_json))


@app.command(rich_help_panel=DESKTOPS)
def tree(
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print the widgets that applications show."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(_verbs().tree(where, as_json))


@app.command(rich_help_panel=DESKTOPS)
def clipboard(
    text: Annotated[
        str | None, typer.Argument(help="Text to copy; - reads it from the input.")
    ] = None,
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print the text of the clipboard, or copy one."""
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(_verbs().clipboard(where, text, as_json))


@app.command(rich_help_panel=DESKTOPS)
def wait(
    text: Annotated[str, typer.Option(help="Part of the name of a visible widget.")] = "",
    window: Annotated[str, typer.Option(help="Part of the title of a window.")] = "",
    widget: Annotated[str, typer.Option(help="Whole name of a widget.")] = "",
    colour: Annotated[str, typer.Option(help="Of some pixel, as #ff8000.")] = "",
    timeout: Annotated[float, typer.Option(help="Seconds to wait at most.", min=0)] = 30.0,
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Wait until something is on the screen; the exit status is 1 if it does not appear."""
    given = {"text": text, "window": window, "widget": widget, "colour": colour}
    wanted = {name: value for name, value in given.items() if value}
    if not wanted:
        raise typer.BadParameter("give --text, --window, --widget or --colour")
    where = desktop_selector(url, data_dir, desktop_id)
    raise typer.Exit(_verbs().wait(where, wanted, timeout, as_json))
