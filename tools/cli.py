"""The command ``deskhand``: declares the commands and their options.

A command's module is imported only when the command runs: most of them import a web framework, an
image library or a provider's SDK, which ``deskhand --help`` must not wait for. The docstrings of
the commands are their help texts.
"""

import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .cli_eval import eval_
from .cli_options import (
    AsJson,
    Button,
    DataDir,
    Listen,
    Model,
    OnDesktop,
    TokenFile,
    Url,
    command_module,
)
from .cli_playbooks import app as playbooks

# 130 is what shells return for a command that SIGINT ended: 128 + 2.
OK, FAILED, INTERRUPTED = 0, 1, 130

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A computer for software agents, and a window on it for people.",
)

recordings = typer.Typer(no_args_is_help=True, help="List, fetch and remove recordings.")
app.add_typer(recordings, name="recordings")
app.add_typer(playbooks, name="playbook")
app.command("eval")(eval_)
library = typer.Typer(no_args_is_help=True, help="Look after the stored files.")
app.add_typer(library, name="library")


def _where(url: str | None, data_dir: Path | None, desktop_id: str | None) -> Any:
    return command_module("desktop_target").DesktopSelector(url, data_dir, desktop_id)


@app.command()
def up(
    listen: Listen = None,
    token_file: TokenFile = None,
    data_dir: DataDir = None,
    model: Model = None,
    keep_desktops: Annotated[
        bool | None, typer.Option("--keep-desktops", help="Leave desktops running at the end.")
    ] = None,
    as_json: AsJson = False,
    until_input_ends: Annotated[bool, typer.Option("--until-input-ends", hidden=True)] = False,
) -> None:
    """Start the control plane and print the dashboard's address."""
    # A flag that was not given is ``None``, so that the environment and settings file count.
    flags = {
        "listen": listen,
        "data_dir": data_dir,
        "model": model,
        "keep_desktops": keep_desktops,
    }
    raise typer.Exit(command_module("up").main(flags, token_file, as_json, until_input_ends))


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def desktop(context: typer.Context) -> None:
    """Serve one desktop: a display, its tools and its recordings."""
    # The options are those of the desktop service, which parses them itself.
    command = command_module("desktop").command(context.args)
    os.execv(command[0], command)  # noqa: S606 - the keeper takes our place, pid included


@app.command()
def run(
    task: Annotated[str, typer.Argument(help="What to do, in words.")],
    model: Model = None,
    url: Url = None,
    data_dir: DataDir = None,
    timeout: Annotated[float, typer.Option(help="Seconds to wait at most.", min=1)] = 1800.0,
    approval: Annotated[
        Literal["auto", "risky", "every"] | None,
        typer.Option(help="What to ask you before it is done; by default the setting."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Give one task to an agent with a desktop of its own; show progress and the result."""
    order = {"prompt": task, "model": model, "approval": approval}
    raise typer.Exit(command_module("run").main(order, url, data_dir, timeout, as_json))


@app.command()
def demo(
    model: Model = None,
    data_dir: DataDir = None,
    listen: Listen = None,
    as_json: AsJson = False,
) -> None:
    """Show the main job end to end; needs no key. DEMO_EXIT=1 ends it when the job is done."""
    raise typer.Exit(command_module("demo").main(model, data_dir, listen, as_json))


@app.command()
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
    where = _where(url, data_dir, desktop_id)
    raise typer.Exit(command_module("desktop_actions").screenshot(where, file, as_json))


# A negative coordinate would otherwise be refused as an unknown option.
@app.command(context_settings={"ignore_unknown_options": True})
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
    where = _where(url, data_dir, desktop_id)
    raise typer.Exit(command_module("desktop_actions").click(where, x, y, button, count, as_json))


@app.command("type")
def type_(
    text: Annotated[str, typer.Argument(help="Any text; - reads it from the input.")],
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Type a text."""
    where = _where(url, data_dir, desktop_id)
    raise typer.Exit(command_module("desktop_actions").type_text(where, text, as_json))


@app.command()
def key(
    chords: Annotated[list[str], typer.Argument(help="As Return or ctrl+s.", metavar="CHORD...")],
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Strike keys and chords, one after the other."""
    where = _where(url, data_dir, desktop_id)
    raise typer.Exit(command_module("desktop_actions").key(where, chords, as_json))


@app.command()
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
    where = _where(url, data_dir, desktop_id)
    raise typer.Exit(command_module("recordings").record(where, file, seconds, label, as_json))


@app.command()
def forward(
    protocol: Annotated[
        Literal["vnc", "osworld", "cua", "cdp"], typer.Argument(help="What the client speaks.")
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
    where = _where(url, data_dir, desktop_id)
    if listen and (port is not None or not listen.startswith("unix:")):
        raise typer.BadParameter("give either --port N or --listen unix:PATH")
    if role and protocol != "vnc":
        raise typer.BadParameter("--role is for vnc")
    options = {"protocol": protocol, "port": port, "listen": listen, "role": role}
    command = command_module("desktops.forward").command(where, options, as_json)
    os.execv(command[0], command)  # noqa: S606 - the forward takes our place, pid included


@recordings.command("list")
def recordings_list(
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the recordings of a desktop and of the control plane's runs."""
    where = _where(url, data_dir, desktop_id)
    raise typer.Exit(command_module("recordings").listing(where, as_json))


@recordings.command("get")
def recordings_get(
    recording_id: str,
    file: Annotated[Path | None, typer.Argument(help="Where the video goes.")] = None,
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Fetch a recording's video."""
    where = _where(url, data_dir, desktop_id)
    raise typer.Exit(command_module("recordings").get(where, recording_id, file, as_json))


@recordings.command("rm")
def recordings_rm(
    recording_id: str,
    url: Url = None,
    desktop_id: OnDesktop = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Remove a recording."""
    where = _where(url, data_dir, desktop_id)
    raise typer.Exit(command_module("recordings").remove(where, recording_id, as_json))


@library.command("rebuild")
def library_rebuild(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Make the database say what lies on the disk; the control plane must not run."""
    raise typer.Exit(command_module("library").rebuild({"data_dir": data_dir}, as_json))


@app.command()
def mcp(
    desktop_id: Annotated[
        str, typer.Option("--desktop", help="Whose screen: own, none or an ID.", metavar="ID")
    ] = "own",
    tools: Annotated[
        str | None, typer.Option(help="Groups of tools; all by default.", metavar="GROUP,...")
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Only tools that change nothing.")
    ] = False,
    pictures: Annotated[
        Literal["on", "changed", "off"], typer.Option(help="When actions answer with a picture.")
    ] = "changed",
    print_config: Annotated[
        str | None,
        typer.Option(help="Print the settings of a host that start this, and end.", metavar="HOST"),
    ] = None,
    url: Url = None,
    data_dir: DataDir = None,
) -> None:
    """Serve MCP on standard input and output, for Claude Code, Codex, Cursor and others.

    Uses the running control plane; without one, starts its own at the first call that needs it.
    """
    options = {"desktop": desktop_id, "tools": tools, "read_only": read_only, "pictures": pictures}
    raise typer.Exit(command_module("serve.mcp").main(options, print_config, url, data_dir))


@app.command()
def models(as_json: AsJson = False) -> None:
    """List the known models, and which of them have a key."""
    raise typer.Exit(command_module("models.models").main(as_json))


@app.command()
def doctor(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Check what this machine needs, and name the remedy for what is missing."""
    raise typer.Exit(command_module("doctor").main(as_json, data_dir))


@app.command()
def audit(
    limit: Annotated[int, typer.Option(help="How many records.", min=1, max=1000)] = 50,
    subject: Annotated[
        str, typer.Option(help="Only of this desktop, chat or secret.", metavar="ID")
    ] = "",
    verify: Annotated[
        bool, typer.Option("--verify", help="Check that no record was changed or removed.")
    ] = False,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show the audit log of the running control plane, the newest record first."""
    raise typer.Exit(command_module("audit").main(url, data_dir, limit, subject, verify, as_json))


@app.command()
def url(data_dir: DataDir = None, url: Url = None) -> None:
    """Print a fresh sign-in link of the running control plane."""
    raise typer.Exit(command_module("url").main(data_dir, url))


@app.command()
def version(as_json: AsJson = False) -> None:
    """Print the version."""
    number = importlib.metadata.version("deskhand")
    typer.echo(json.dumps({"version": number}) if as_json else f"deskhand {number}")


def main() -> None:
    """Run the command line and end the process."""
    try:
        app()
    except SystemExit as ended:
        status = ended.code or OK
    except KeyboardInterrupt:
        status = INTERRUPTED
    else:
        status = OK
    # ``os._exit`` writes no buffers.
    sys.stdout.flush()
    sys.stderr.flush()
    # Every resource was closed by its owner. A regular exit would spend seconds on finalizing the
    # thousands of classes of a provider's SDK.
    os._exit(status if isinstance(status, int) else FAILED)
