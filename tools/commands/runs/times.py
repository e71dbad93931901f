"""`deskhand runs waterfall`: what the time of a run was spent on, and what would make it faster."""

from deskhand.tools.commands.exit_status import DONE
from deskhand.tools.commands.http import PlaneConnection, PlaneSelector
from deskhand.tools.commands.output.screen import print_table
from deskhand.tools.commands.output.table import printable
from deskhand.tools.commands.terminal import print_json, print_line

from .runs import RUNS, on_run
from .time_rows import TIME_COLUMNS, TOTAL_COLUMNS, longest_rows, total_rows


def times(where: PlaneSelector, run: str, as_json: bool) -> int:
    """Print the totals of a run by kind of time, its longest steps, and advice."""

    async def work(plane: PlaneConnection, chat_id: str) -> int:
        found = await plane.client.request("GET", f"{RUNS}/{chat_id}/waterfall")
        if as_json:
            print_json(found)
            return DONE
        print_table(TOTAL_COLUMNS, total_rows(found), "the run has no ended step")
        if found["rows"]:
            print_line("")
            print_table(TIME_COLUMNS, longest_rows(found), "")
        for one in found["advice"]:
            print_line(f"\n{printable(one['text'])}")
        return DONE

    return on_run(where, run, work)
