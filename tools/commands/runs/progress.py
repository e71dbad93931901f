"""Progress of a run in the terminal: lines that stay and, for a person, one that moves."""

import time
from types import TracebackType
from typing import Any, Protocol, Self

from deskhand.tools.commands.output.live_line import LiveLine
from deskhand.tools.commands.output.screen import is_terminal
from deskhand.tools.commands.terminal import OutputClosed, print_json, print_line

from .runs import Form
from .summary import live_text, step_line

Json = dict[str, Any]


class Progress(Protocol):
    """Output of a run while it works; a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def line(self, text: str) -> None:
        """Print a line for people."""

    def show(self, chat: Json) -> None:
        """Show a run as it is now, with its steps."""

    def pause(self) -> None:
        """Leave the terminal to what is typed."""

    def resume(self) -> None:
        """Go on after `pause`."""


class PlainProgress:
    """Prints a line for each step that has ended; of ``jsonl`` its object, of ``json`` nothing."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._shown = 0
        self._waited: Json | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def line(self, text: str) -> None:
        """Print a line, only for people."""
        if self._form == "text":
            self.write(text)

    def show(self, chat: Json) -> None:
        """Print the steps that have ended since, and for what the run waits."""
        ended = [step for step in chat["steps"] if step.get("ended_at")]
        for step in ended[self._shown :]:
            if self._form == "jsonl":
                print_json({"kind": "step", **step})
            self.line(step_line(step))
        self._shown = len(ended)
        waiting = chat.get("waiting_for")
        # A question is printed where it is answered.
        if waiting and waiting != self._waited and waiting["kind"] != "question":
            self.line(f"  {waiting['text']}")
        self._waited = waiting

    def write(self, text: str) -> None:
        """Print a line; that nobody reads it does not concern the agent."""
        try:
            print_line(text)
        except OutputClosed:
            self._form = "json"

    def pause(self) -> None:
        """Do nothing: the lines leave room for what is typed."""

    def resume(self) -> None:
        """Do nothing."""


class LiveProgress(PlainProgress):
    """The same, with a line below it: step, elapsed time, tokens and the last activity."""

    def __init__(self) -> None:
        super().__init__("text")
        self._chat: Json = {}
        self._began = time.time()
        self._line = LiveLine(lambda: live_text(self._chat, self._began, time.time()))

    def __enter__(self) -> Self:
        self._line.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._line.pause()

    def show(self, chat: Json) -> None:
        """Print what is new, and show the present in the line below."""
        super().show(chat)
        self._chat = chat

    def write(self, text: str) -> None:
        """Print a line above the moving one."""
        self._line.print(text)

    def pause(self) -> None:
        """Remove the moving line."""
        self._line.pause()

    def resume(self) -> None:
        """Show the moving line again."""
        self._line.resume()


def progress_of(form: Form) -> Progress:
    """Return the output of a run for a terminal, a pipe or a program."""
    return LiveProgress() if form == "text" and is_terminal() else PlainProgress(form)
