"""The command ``deskhand``: declares the commands and their options.

A command's module is imported only when the command runs: most of them import a web framework, an
image library or a provider's SDK, which ``deskhand --help`` must not wait for. The docstrings of
the commands are their help texts.
"""

import contextlib
import functools
import importlib.metadata
import json
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Literal

import typer

from .command_line.access import secrets, tokens
from .command_line.actions import app as actions
from .command_line.backup import app as backups
from .command_line.cluster import app as authority
from .command_line.cluster import node, nodes, place
from .command_line.desktops import app as desktops
from .command_line.desktops import work
from .command_line.eval import eval_
from .command_line.options import (
    ACCESS,
    DESKTOPS,
    EXAMPLES,
    MORE,
    RUNS,
    SERVICE,
    AsJson,
    DataDir,
    Listen,
    Model,
    PrintLink,
    TokenFile,
    Url,
    command_module,
    plane_selector,
)
from .command_line.people import app as people
from .command_line.playbooks import app as playbooks
from .command_line.recordings import app as recordings
from .command_line.run import run
from .command_line.runs import app as runs
from .command_line.runs import ps
from .command_line.verbs import app as verbs

# 130 is what shells return for a command that SIGINT ended: 128 + 2.
OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
TRACEBACK = "DESKHAND_TRACEBACK"
"""Variable that shows where an internal error happened."""

app = typer.Typer(
    no_args_is_help=True,
    epilog=EXAMPLES,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A computer for software agents, and a window on it for people.",
)

app.command("run", rich_help_panel=RUNS)(run)
app.add_typer(desktops, name="desktops", rich_help_panel=DESKTOPS)
app.add_typer(work)
app.add_typer(actions)
app.add_typer(verbs)
app.add_typer(runs, name="runs", rich_help_panel=RUNS)
app.add_typer(secrets, name="secret", rich_help_panel=ACCESS)
app.add_typer(tokens, name="token", rich_help_panel=ACCESS)
app.add_typer(people, name="people", rich_help_panel=ACCESS)
app.add_typer(recordings, name="recordings", rich_help_panel=RUNS)
app.add_typer(playbooks, name="playbook", rich_help_panel=RUNS)
app.command("ps", rich_help_panel=RUNS)(ps)
library = typer.Typer(no_args_is_help=True, help="Look after the stored files.")
app.add_typer(library, name="library", rich_help_panel=SERVICE)
app.add_typer(backups)
app.add_typer(authority, name="ca", rich_help_panel=SERVICE)
app.add_typer(nodes, name="nodes", rich_help_panel=SERVICE)
app.command("place", rich_help_panel=SERVICE)(place)
app.command("node", rich_help_panel=SERVICE)(node)


def usage_error(error: typer.TyperException) -> int:
    """Print an error of usage in one line; return the exit status.

    A command without arguments, which has printed its help, is an error only below the first level.
    """
    context = getattr(error, "ctx", None)
    # The help was printed when the error was made.
    message = "" if context is None and not str(error) else one_line(error)
    if message:
        help_of = f"; see {context.command_path} --help" if context is not None else ""
        sys.stderr.write(f"deskhand: {message}{help_of}\n")
        return USAGE
    return USAGE if context is not None and context.parent is not None else OK


def one_line(error: typer.TyperException) -> str:
    """Return the message of an error of usage as one line without a full stop."""
    message = getattr(error, "format_message", error.__str__)()
    return " ".join(str(message).split()).rstrip(".")


@app.command(rich_help_panel=SERVICE)
def up(
    listen: Listen = None,
    token_file: TokenFile = None,
    data_dir: DataDir = None,
    model: Model = None,
    keep_desktops: Annotated[
        bool | None, typer.Option("--keep-desktops", help="Leave desktops running at the end.")
    ] = None,
    public_url: Annotated[
        str | None, typer.Option(help="Address of the pages for people, as https://HOST/PATH.")
    ] = None,
    tls_cert: Annotated[
        str | None, typer.Option(help="File with the certificate (PEM).", metavar="FILE")
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option(help="File with its key (PEM).", metavar="FILE")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(help="Address of a proxy whose X-Forwarded- headers count.", metavar="IP"),
    ] = None,
    insecure: Annotated[
        bool | None, typer.Option("--insecure", help="Listen for other machines without TLS.")
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
        "public_url": public_url,
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "trusted_proxy": tuple(trusted_proxy) if trusted_proxy else None,
        "insecure": insecure,
    }
    raise typer.Exit(command_module("up").main(flags, token_file, as_json, until_input_ends))


@app.command(rich_help_panel=SERVICE)
def launcher(
    socket: Annotated[Path, typer.Argument(help="Where it listens.", metavar="SOCKET")],
    data_dir: DataDir = None,
) -> None:
    """Make users and networks of desktops for a control plane without root; needs root."""
    raise typer.Exit(command_module("serve.launcher").main(socket, {"data_dir": data_dir}))


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
    rich_help_panel=SERVICE,
)
def desktop(context: typer.Context) -> None:
    """Serve one desktop: a display, its tools and its recordings."""
    # The options are those of the desktop service, which parses them itself.
    command = command_module("desktop").command(context.args)
    os.execv(command[0], command)  # noqa: S606 - the keeper takes our place, pid included


@app.command(rich_help_panel=SERVICE)
def demo(
    model: Model = None,
    data_dir: DataDir = None,
    listen: Listen = None,
    as_json: AsJson = False,
) -> None:
    """Show the main job end to end; needs no key. DEMO_EXIT=1 ends it when the job is done."""
    raise typer.Exit(command_module("demo").main(model, data_dir, listen, as_json))


@library.command("rebuild")
def library_rebuild(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Make the database say what lies on the disk; the control plane must not run."""
    raise typer.Exit(command_module("library").rebuild({"data_dir": data_dir}, as_json))


@app.command(rich_help_panel=MORE)
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


@app.command(rich_help_panel=MORE)
def models(as_json: AsJson = False) -> None:
    """List the known models, and which of them have a key."""
    raise typer.Exit(command_module("models.models").main(as_json))


@app.command(rich_help_panel=SERVICE)
def doctor(
    installs: Annotated[
        bool, typer.Option("--install", help="Install the packages that are missing.")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Check what this machine needs, and name the remedy for what is missing."""
    raise typer.Exit(command_module("diagnosis.doctor").main(as_json, data_dir, installs))


@app.command(rich_help_panel=ACCESS)
def audit(
    limit: Annotated[int, typer.Option(help="How many records.", min=1, max=1000)] = 50,
    subject: Annotated[
        str, typer.Option(help="Only of this desktop, chat or secret.", metavar="ID")
    ] = "",
    verify: Annotated[
        bool, typer.Option("--verify", help="Check that no record was changed or removed.")
    ] = False,
    files: Annotated[
        list[Path] | None,
        typer.Option("--file", help="audit.jsonl of a node, too; repeat it.", metavar="FILE"),
    ] = None,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show the audit log of the running control plane, the newest record first."""
    where = plane_selector(url, data_dir)
    given = (where, limit, subject, verify, as_json, files or ())
    raise typer.Exit(command_module("access.audit").main(*given))


@app.command(rich_help_panel=ACCESS)
def url(data_dir: DataDir = None, url: Url = None, as_json: AsJson = False) -> None:
    """Print a fresh sign-in link of the running control plane."""
    raise typer.Exit(command_module("access.url").main(plane_selector(url, data_dir), as_json))


@app.command(rich_help_panel=MORE)
def version(as_json: AsJson = False) -> None:
    """Print the version."""
    number = importlib.metadata.version("deskhand")
    typer.echo(json.dumps({"version": number}) if as_json else f"deskhand {number}")


@app.command("open", rich_help_panel=SERVICE)
def open_(
    page: Annotated[
        str,
        typer.Argument(
            help="As /runs, by default the home page; or a URL, which a new desktop opens."
        ),
    ] = "",
    print_only: PrintLink = False,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Open the dashboard, or a URL on a new desktop, in your browser, signed in.

    The desktop may reach the host and port of the URL, if they are of this machine or its networks.
    """
    given = (plane_selector(url, data_dir), page, print_only, as_json)
    if "://" in page:
        raise typer.Exit(command_module("desktops.desktops").open_address(*given))
    raise typer.Exit(command_module("access.url").open_page(*given))


@app.callback(invoke_without_command=True)
def root(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True)
    ] = False,
) -> None:
    """A computer for software agents, and a window on it for people."""
    if show_version:
        version()
        raise typer.Exit


app.command("eval", rich_help_panel=MORE)(eval_)


@functools.cache
def command_tree() -> Any:
    """Return the commands with their parsers, which are made once."""
    return typer.main.get_command(app)


def run_line(arguments: list[str] | None = None) -> int:
    """Run one command line, by default that of the process; return its exit status."""
    status: int | str | None
    try:
        # Outside of the standalone mode errors of usage are raised, not printed in several lines.
        status = command_tree()(arguments, prog_name="deskhand", standalone_mode=False)
    except typer.TyperException as error:
        status = usage_error(error)
    except SystemExit as ended:
        status = ended.code
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    status = OK if status is None else status
    return status if isinstance(status, int) else FAILED


def print_internal_error(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print an error that no command expects as one line; its traceback if that is asked for."""
    if os.environ.get(TRACEBACK):
        sys.__excepthook__(kind, error, trace)
        return
    reason = " ".join(str(error).split()) or "no reason is given"
    sys.stderr.write(f"deskhand: internal error: {reason}; {TRACEBACK}=1 shows where\n")


def main() -> None:
    """Run the command line and end the process."""
    sys.excepthook = print_internal_error
    status = run_line()
    # ``os._exit`` writes no buffers. A reader that is gone is no reason for a message.
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    sys.stderr.flush()
    # Every resource was closed by its owner. A regular exit would spend seconds on finalizing the
    # thousands of classes of a provider's SDK.
    os._exit(status)
