"""The commands `deskhand ps` and those below `deskhand runs`, with their options."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import (
    AsJson,
    AsJsonLines,
    DataDir,
    PrintLink,
    Run,
    Url,
    command_module,
    form_of,
    given_text,
    plane_selector,
)

app = typer.Typer(
    no_args_is_help=True,
    help="Find runs, follow them, and give agents messages and answers.",
)


def _runs() -> Any:
    return command_module("runs.runs")


def ps(
    everything: Annotated[bool, typer.Option("--all", "-a", help="Also runs at rest.")] = False,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
    as_lines: AsJsonLines = False,
) -> None:
    """List what works now: runs and desktops in one table."""
    form = form_of(as_json, as_lines)
    raise typer.Exit(_runs().processes(plane_selector(url, data_dir), everything, form))


@app.command("list")
def listing(
    search: Annotated[
        str, typer.Option(help="Words in the title, the task or the report.", metavar="WORDS")
    ] = "",
    outcome: Annotated[str, typer.Option(help="As done or failed.")] = "",
    model: Annotated[str, typer.Option(help="Runs of this model.")] = "",
    needs_person: Annotated[
        bool, typer.Option("--needs-person", help="Only runs that wait for an answer.")
    ] = False,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Only runs that have a recording.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many.", min=1)] = 20,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
    as_lines: AsJsonLines = False,
) -> None:
    """List runs, the newest first."""
    wanted = {"q": search, "outcome": outcome, "model": model}
    wanted |= {"needs_person": "true"} if needs_person else {}
    wanted |= {"recorded": "true"} if recorded else {}
    form = form_of(as_json, as_lines)
    raise typer.Exit(_runs().listing(plane_selector(url, data_dir), wanted, limit, form))


@app.command("show")
def show(run: Run, url: Url = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show the state of a run, its question, report and recording."""
    raise typer.Exit(_runs().describe(plane_selector(url, data_dir), run, as_json))


@app.command("logs")
def logs(
    run: Run,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until the run is at rest.")
    ] = False,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
    as_lines: AsJsonLines = False,
) -> None:
    """Print the steps of a run. Ctrl-C ends the command, not the agent."""
    if follow and as_json:
        raise typer.BadParameter("--follow prints as it happens: use --jsonl")
    command = command_module("runs.logs").logs
    form = form_of(as_json, as_lines)
    raise typer.Exit(command(plane_selector(url, data_dir), run, follow, form))


@app.command("stop")
def stop(run: Run, url: Url = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Stop the agent; the run can go on with a message."""
    raise typer.Exit(_runs().stop(plane_selector(url, data_dir), run, as_json))


@app.command("say")
def say(
    run: Run,
    message: Annotated[str, typer.Argument(help="What to say; - reads it from the input.")],
    now: Annotated[
        bool, typer.Option("--now", help="Interrupt the turn; else it is read at its end.")
    ] = False,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Send the agent a message."""
    where = plane_selector(url, data_dir)
    raise typer.Exit(_runs().say(where, run, given_text(message), now, as_json))


@app.command("answer")
def answer(
    run: Run,
    text: Annotated[
        str,
        typer.Argument(help="To an approval: approve, refuse or always; - reads the input."),
    ],
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Answer what the agent asks."""
    where = plane_selector(url, data_dir)
    raise typer.Exit(_runs().answer(where, run, given_text(text), as_json))


@app.command("open")
def open_(
    run: Run,
    print_only: PrintLink = False,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Open the page of a run in your browser, signed in."""
    raise typer.Exit(_runs().open_run(plane_selector(url, data_dir), run, print_only, as_json))


@app.command("share")
def share(
    run: Run,
    hours: Annotated[float, typer.Option(help="How long the link works.", min=0.1)] = 168.0,
    conversation: Annotated[
        bool, typer.Option("--conversation", help="It also shows messages and attached files.")
    ] = False,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print a link that shows this run only; `deskhand token rm` ends it."""
    where = plane_selector(url, data_dir)
    raise typer.Exit(_runs().share(where, run, hours, conversation, as_json))


@app.command("report")
def report(
    run: Run,
    file: Annotated[Path, typer.Argument(help="Where it goes; - for the output.")] = Path(
        "report.html"
    ),
    video: Annotated[
        bool, typer.Option("--video", help="With the run video, if it is not too large.")
    ] = False,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Write a report of a run, one page that opens offline."""
    where = plane_selector(url, data_dir)
    wanted = {"video": "true"} if video else {}
    raise typer.Exit(_runs().fetch(where, run, "report.html", file, wanted, as_json))


@app.command("sheet")
def sheet(
    run: Run,
    file: Annotated[Path, typer.Argument(help="Where it goes; - for the output.")] = Path(
        "sheet.png"
    ),
    columns: Annotated[int, typer.Option(help="Pictures in a row.", min=1, max=8)] = 4,
    steps: Annotated[str, typer.Option(help="all, failed, or as 1-12.")] = "all",
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Write a sheet with the pictures of a run's steps."""
    where = plane_selector(url, data_dir)
    wanted = {"columns": str(columns), "steps": steps}
    raise typer.Exit(_runs().fetch(where, run, "sheet.png", file, wanted, as_json))


@app.command("trail")
def trail(
    run: Run,
    file: Annotated[Path, typer.Argument(help="Where it goes; - for the output.")] = Path(
        "trail.png"
    ),
    steps: Annotated[str, typer.Option(help="all, failed, or as 1-12.")] = "all",
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Write a picture of the screen with the clicks of a run."""
    where = plane_selector(url, data_dir)
    raise typer.Exit(_runs().fetch(where, run, "trail.png", file, {"steps": steps}, as_json))


@app.command("waterfall")
def waterfall(run: Run, url: Url = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Print what the time of a run was spent on, and what would make it faster."""
    command = command_module("runs.times").times
    raise typer.Exit(command(plane_selector(url, data_dir), run, as_json))
