"""Options that several commands of ``deskhand`` have, and the loading of their modules."""

import gc
import importlib
from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def runs_completed(incomplete: str) -> list[tuple[str, str]]:
    """Return the ids of runs that begin with a text, with their titles, for the shell."""
    return completed("runs", incomplete)


def desktops_completed(incomplete: str) -> list[tuple[str, str]]:
    """Return the ids of desktops that begin with a text, with their names."""
    return completed("desktops", incomplete)


def models_completed(incomplete: str) -> list[tuple[str, str]]:
    """Return the names of models that begin with a text, with their providers."""
    return completed("models", incomplete)


def completed(kind: str, incomplete: str) -> list[tuple[str, str]]:
    """Return what the shell may complete."""
    found: list[tuple[str, str]] = command_module("completion.completion").candidates(kind)
    return [one for one in found if one[0].startswith(incomplete)]


Listen = Annotated[
    str | None, typer.Option(help="HOST:PORT (port 0: any free one) or unix:PATH.", metavar="WHERE")
]
TokenFile = Annotated[
    Path | None, typer.Option(help="File with the access token to use, mode 0600.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one line of JSON.")]
AsJsonLines = Annotated[bool, typer.Option("--jsonl", help="Print a line of JSON for each.")]
DataDir = Annotated[
    Path | None, typer.Option(help="Where chats, files and tokens are kept (DESKHAND_DATA_DIR).")
]
Model = Annotated[
    str | None,
    typer.Option(
        help="A provider's model, or scripted:NAME.",
        metavar="MODEL",
        autocompletion=models_completed,
    ),
]
Url = Annotated[str | None, typer.Option(help="A running control plane (DESKHAND_URL).")]
OnDesktop = Annotated[
    str | None,
    typer.Option(
        "--desktop",
        help="Which one; by default the newest.",
        metavar="ID",
        autocompletion=desktops_completed,
    ),
]
Run = Annotated[
    str, typer.Argument(help="Id of the run, or its beginning.", autocompletion=runs_completed)
]
PrintLink = Annotated[bool, typer.Option("--print", help="Print the link, open no browser.")]
RUNS, DESKTOPS, ACCESS, SERVICE, MORE = (
    *("Runs", "Desktops", "People, tokens and secrets", "The service", "More"),
)
"""Groups of the help."""
EXAMPLES = """Examples:

deskhand up

deskhand run "find the newest release of Python and save its notes"

deskhand screenshot && deskhand click 640 360
"""
Button = Literal["left", "middle", "right", "back", "forward"]


def command_module(name: str) -> Any:
    """Import the module of a command, which other commands do not wait for."""
    # A provider's SDK alone takes two seconds to import, which `deskhand version` must not take.
    # Modules stay loaded for good, so garbage is not collected among them.
    gc.disable()
    module = importlib.import_module(f"deskhand.tools.commands.{name}")
    gc.freeze()
    gc.enable()
    return module


def plane_selector(url: str | None, data_dir: Path | None) -> Any:
    """Return the control plane that the options select."""
    return command_module("http").PlaneSelector(url, data_dir)


def desktop_selector(url: str | None, data_dir: Path | None, desktop_id: str | None) -> Any:
    """Return the desktop that the options select."""
    return command_module("desktop_target").DesktopSelector(url, data_dir, desktop_id)


def form_of(as_json: bool, as_lines: bool) -> str:
    """Return the form of the output."""
    if as_json and as_lines:
        raise typer.BadParameter("give either --json or --jsonl")
    return "json" if as_json else "jsonl" if as_lines else "text"


def given_text(text: str) -> str:
    """Return an argument, or the standard input where the argument is ``-``."""
    return typer.get_text_stream("stdin").read() if text == "-" else text
