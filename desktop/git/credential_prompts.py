"""Parser of askpass prompts, and of the lines in which the askpass script forwards them.

The text of a prompt is translated, but its URL is not: a URL with a username asks for the
password, one without asks for the username (git, credential.c).
"""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

LONGEST_LINE = 4096
"""Bytes of the longest line: PIPE_BUF, up to which a write is atomic (pipe(7))."""

_ADDRESS = re.compile(
    r"(?P<protocol>[a-z][a-z0-9+.-]*)://(?:(?P<user>[^\s/@'\"]*)@)?"
    r"(?P<host>(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d+)?)(?=[/\s'\"\u00ab\u00bb\u2018-\u201f:]|$)",
    re.IGNORECASE,
)
# OpenSSH's prompts for a password and for keyboard-interactive authentication; these are not
# translated.
_SSH = re.compile(r"\(?(?P<user>[^\s@()]+)@(?P<host>[^\s@()']+)(?:'s password|\) Password): ?")


@dataclass(frozen=True)
class CredentialPrompt:
    """Request for a username or a password of a server."""

    kind: Literal["username", "password"]
    server: str
    """Such as ``https://host:port``, in lower case."""
    username: str = ""
    """User whose password is requested; empty in a request for the username."""


@dataclass(frozen=True)
class Question:
    """A prompt with the process, chat and working tree that it comes from."""

    number: int
    """Process id of the script, which also names its reply FIFO."""
    chat_id: str
    branch: str
    origin: str
    prompt: str


def prompt_of(text: str) -> CredentialPrompt | None:
    """Parse a prompt; None if it asks for neither username nor password of a server."""
    if found := _SSH.fullmatch(text.strip("\n")):
        return CredentialPrompt("password", server_of("ssh", found["host"]), found["user"])
    found = _ADDRESS.search(text)
    if found is None:
        return None
    server = server_of(found["protocol"], found["host"])
    user = unquote(found["user"] or "")
    return CredentialPrompt("password" if user else "username", server, user)


def server_of(protocol: str, host: str) -> str:
    """Return the key of a server in lower case."""
    return f"{protocol}://{host}".lower()


class CredentialQuestions:
    """Incremental parser of questions. Malformed lines are skipped."""

    def __init__(self) -> None:
        self._rest = b""
        self._skipping = False

    def feed(self, data: bytes) -> list[Question]:
        """Return the questions that this data completes."""
        *lines, rest = (self._rest + data).split(b"\n")
        found = []
        for line in lines:
            if not self._skipping and (question := _question(line)):
                found.append(question)
            # The end of a line that was too long is part of that line, not a question.
            self._skipping = False
        self._skipping = self._skipping or len(rest) > LONGEST_LINE
        self._rest = b"" if self._skipping else rest
        return found


def _question(line: bytes) -> Question | None:
    if len(line) > LONGEST_LINE:
        return None
    number, *fields = line.decode("utf-8", "replace").split("\t")
    if len(fields) != 4 or not re.fullmatch(r"[0-9]{1,10}", number):
        return None
    return Question(int(number), *fields)
