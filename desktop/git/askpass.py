"""Askpass helper of git and ssh (GIT_ASKPASS, gitcredentials(7)): a script that asks this service.

The script writes its question to one FIFO in a private directory and reads the answer from another
one that it creates for itself. A shell can do so without a client program, and no secret appears
in an argument or in the environment, which other processes could read.
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
# Four fields of at most 800 bytes keep a question below PIPE_BUF, so that the lines of scripts that
# run at the same time do not mix (pipe(7)).
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
# During a clone HEAD of git 2.47 names no branch that could exist.
branch=$(git symbolic-ref --short -q HEAD 2>/dev/null || echo HEAD)
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
    """The script and the service's end of the FIFO. Belongs to one event loop; use as ``with``.

    ``answer`` returns one line or None, without blocking.
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
        """Variables that make git and ssh use the script; empty if it could not be written."""

    def __enter__(self) -> Self:
        """Write the script and start answering; a failure is logged, and commands run without."""
        try:
            self._start()
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
        """Stop answering and remove the FIFO."""
        self._open.close()

    def _start(self) -> None:
        # A killed service leaves its FIFO behind.
        self._requests.unlink(missing_ok=True)
        os.mkfifo(self._requests, 0o600)
        self._open.callback(self._requests.unlink, missing_ok=True)
        self._script.write_text(SCRIPT.format(requests=shlex.quote(str(self._requests))))
        self._script.chmod(0o700)
        # A FIFO opened read-write never reports end-of-file between two writers (fifo(7)).
        descriptor = os.open(self._requests, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._open.callback(os.close, descriptor)
        loop = asyncio.get_running_loop()
        loop.add_reader(descriptor, self._on_readable, descriptor)
        self._open.callback(loop.remove_reader, descriptor)

    def _on_readable(self, descriptor: int) -> None:
        with suppress(BlockingIOError):
            for question in self._questions.feed(os.read(descriptor, READ_SIZE)):
                answer = self._answer(question)
                self._reply(question, "!" if answer is None else f"={answer}")

    def _reply(self, question: Question, line: str) -> None:
        path = f"{self._requests}.{question.number}"
        # A command of the same user may have put a link there. Without a reader a blocking open
        # would stop the event loop.
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags)
        except OSError as error:
            # The script has given up: it waits 20 s, and its trap removes the FIFO.
            if error.errno not in (errno.ENOENT, errno.ENXIO):
                logger.warning("the answer to git's question has nowhere to go: %s", error)
            return
        try:
            with suppress(OSError):
                os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)
