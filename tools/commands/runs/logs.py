"""`deskhand runs logs`: the steps of a run, also while they happen."""

from contextlib import aclosing
from typing import Any

from deskhand.tools.commands.exit_status import DONE
from deskhand.tools.commands.http import PlaneConnection, PlaneSelector
from deskhand.tools.commands.output.table import harmless, printable
from deskhand.tools.commands.terminal import print_json, print_line

from .changes import changes
from .runs import CHATS, Form, on_run
from .summary import ACTIVE, step_line

Json = dict[str, Any]


class StepPrinter:
    """Prints each ended step of a run once, and its end."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._shown = 0
        self._asked: Json | None = None

    def show(self, chat: Json) -> None:
        """Print the steps that have ended since the last call."""
        ended = [step for step in chat["steps"] if step.get("ended_at")]
        for step in ended[self._shown :]:
            print_json(step) if self._form == "jsonl" else print_line(step_line(step))
        self._shown = len(ended)
        question: Json | None = chat.get("requires_action")
        if question and question != self._asked and self._form == "text":
            print_line(f"Question: {harmless(str(question.get('question')))}")
            print_line(f"  answer it: deskhand runs answer {chat['id']} TEXT")
        self._asked = question

    def end(self, chat: Json) -> None:
        """Print the error or report of a run at rest."""
        for name, text in {"Error": chat["last_error"], "Report": chat["report"]}.items():
            if text and self._form == "text":
                print_line(f"{name}: {printable(str(text))}")


def logs(where: PlaneSelector, run: str, follow: bool, form: Form) -> int:
    """Print the steps of a run; with ``follow`` until it is at rest."""

    async def work(plane: PlaneConnection, chat_id: str) -> int:
        printer = StepPrinter(form)
        chat: Json = await plane.client.request("GET", f"{CHATS}/{chat_id}")
        if form == "json":
            print_json({"steps": chat["steps"]})
            return DONE
        if follow and chat["state"] in ACTIVE:
            async with aclosing(changes(plane.client, chat_id)) as seen:
                async for chat in seen:
                    printer.show(chat)
                    if chat["state"] not in ACTIVE:
                        break
        else:
            printer.show(chat)
        printer.end(chat)
        return DONE

    return on_run(where, run, work)
