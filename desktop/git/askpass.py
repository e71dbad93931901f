"""The program that git and ssh ask for a name or a password: a script that asks this service.

Script and service meet in named pipes in a private folder: there a shell needs no client, and
nothing secret stands in an argument or in the environment.
"""

import asyncio
import errno
import logging
import os
import shlex
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from .credential_prompts import CredentialQuestions, Question

logger = logging.getLogger(__name__)

READ_SIZE = 65_536
SCRIPT = """#!/bin/sh
# Git and ssh ask this for a name or a password; it asks the desktop service.
umask 077
requests={requests}
reply=$requests.$$
one() {{ printf %s "$1" | tr '\\t\\n' '  ' | head -c 800; }}
[ -p "$requests" ] && rm -f "$reply" && mkfifo "$reply" || exit 1
trap 'rm -f "$reply"' EXIT
# Opened both ways, neither end waits for the other.
exec 3<>"$reply" 4<>"$requests"
branch=$(git symbolic-ref --short -q HEAD 2>/dev/null)
origin=$(git config --get remote.origin.url 2>/dev/null)
printf '%s\\t%s\\t%s\\t%s\\t%s\\n' $$ "$(one "${{DESKHAND_CHAT_ID-}}")" \\
    "$(one "$branch")" "$(one "$origin")" "$(one "$1")" >&4
line=$(timeout 20 head -n 1 <&3)
case $line in
=*) printf '%s\\n' "${{line#=}}" ;;
*) printf 'deskhand: nothing is known here that answers: %s\\n' "$1" >&2; exit 1 ;;
esac
"""


class Askpass:
    """The script and the service's end of it. Belongs to one event loop; use as ``with``.

    ``answer`` gives a line, or None, at once.
    """

    def __init__(
        self, script: Path, requests: Path, answer: Callable[[Question], str | None]
    ) -> None:
        self._script = script
        self._requests = requests
        self._answer = answer
        self._questions = CredentialQuestions()
        self._open = ExitStack()
        self.environment: dict[str, str] = {}
        """What makes a command use it; empty if it could not be opened."""

    def __enter__(self) -> Self:
        """Write the script and begin to answer; without it commands run all the same."""
        try:
            self._begin()
        except OSError as error:
            self._open.close()
            logger.warning("git will find no credentials: %s", error)
        else:
            path = str(self._script)
            self.environment = {"GIT_ASKPASS": path, "SSH_ASKPASS": path}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Answer nothing more."""
        self._open.close()

    def _begin(self) -> None:
        self._requests.unlink(missing_ok=True)
        os.mkfifo(self._requests, 0o600)
        self._open.callback(self._requests.unlink, missing_ok=True)
        self._script.write_text(SCRIPT.format(requests=shlex.quote(str(self._requests))))
        self._script.chmod(0o700)
        # Opened for writing too, it never ends while nobody asks.
        descriptor = os.open(self._requests, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._open.callback(os.close, descriptor)
        loop = asyncio.get_running_loop()
        loop.add_reader(descriptor, self._readable, descriptor)
        self._open.callback(loop.remove_reader, descriptor)

    def _readable(self, descriptor: int) -> None:
        with suppress(BlockingIOError):
            for question in self._questions.feed(os.read(descriptor, READ_SIZE)):
                answer = self._answer(question)
                self._reply(question, "!" if answer is None else f"={answer}")

    def _reply(self, question: Question, line: str) -> None:
        path = f"{self._requests}.{question.number}"
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENXIO):
                logger.warning("the answer to git's question has nowhere to go: %s", error)
            return
        try:
            with suppress(OSError):
                os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)
