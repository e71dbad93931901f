"""Options that several commands of ``deskhand`` have, and the loading of their modules."""

import gc
import importlib
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

Listen = Annotated[
    str | None, typer.Option(help="HOST:PORT (port 0: any free one) or unix:PATH.", metavar="WHERE")
]
TokenFile = Annotated[
    Path | None, typer.Option(help="File with the access token to use, mode 0600.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one line of JSON.")]
DataDir = Annotated[
    Path | None, typer.Option(help="Where chats, files and tokens are kept (DESKHAND_DATA_DIR).")
]
Model = Annotated[
    str | None, typer.Option(help="A provider's model, or scripted:NAME.", metavar="MODEL")
]
Url = Annotated[str | None, typer.Option(help="A running control plane (DESKHAND_URL).")]
OnDesktop = Annotated[
    str | None, typer.Option("--desktop", help="Which one; by default the newest.", metavar="ID")
]
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
