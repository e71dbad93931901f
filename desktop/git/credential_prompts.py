"""What git and ssh ask for by an askpass program, and the lines in which our script passes it on.

The words of a prompt depend on the language, its address does not: one that holds a name asks for
the password, one without asks for the name (git, credential.c).
"""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

LONGEST_LINE = 4096
"""Longer ones are no question of ours; a pipe takes no more in one piece (pipe(7), PIPE_BUF)."""

_ADDRESS = re.compile(
    r"(?P<protocol>[a-z][a-z0-9+.-]*)://(?:(?P<user>[^\s/@'\"]*)@)?"
    r"(?P<host>(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d+)?)(?=[/\s'\"\u00ab\u00bb\u2018-\u201f:]|$)",
    re.IGNORECASE,
)
_SSH = re.compile(r"\(?(?P<user>[^\s@()]+)@(?P<host>[^\s@()']+)(?:'s password|\) Password): ?")


@dataclass(frozen=True)
class CredentialPrompt:
    """A name or a password that is wanted for a server."""

    kind: Literal["username", "password"]
    server: str
    """As ``https://host:port``, in small letters."""
    username: str = ""
    """Whose password; empty where the name itself is wanted."""


@dataclass(frozen=True)
class Question:
    """A prompt with who passed it on, and for which chat and working tree."""

    number: int
    """Of the process that asks."""
    chat_id: str
    branch: str
    origin: str
    prompt: str


def prompt_of(text: str) -> CredentialPrompt | None:
    """Return what is asked for; None if it is neither a name nor a password for a server."""
    if found := _SSH.fullmatch(text.strip("\n")):
        return CredentialPrompt("password", server_of("ssh", found["host"]), found["user"])
    found = _ADDRESS.search(text)
    if found is None:
        return None
    server = server_of(found["protocol"], found["host"])
    user = unquote(found["user"] or "")
    return CredentialPrompt("password" if user else "username", server, user)


def server_of(protocol: str, host: str) -> str:
    """Return the name by which a server is known here."""
    return f"{protocol}://{host}".lower()


class CredentialQuestions:
    """Takes bytes as they come and gives the questions in them. A line of another form is none."""

    def __init__(self) -> None:
        self._rest = b""
        self._skipping = False

    def feed(self, data: bytes) -> list[Question]:
        """Return the questions that are whole now."""
        *lines, rest = (self._rest + data).split(b"\n")
        found = []
        for line in lines:
            if not self._skipping and (question := _question(line)):
                found.append(question)
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
