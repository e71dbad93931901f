"""Detection of a trailing ``&`` in a shell command, which requests a background process.

The scanner covers the part of the shell grammar that decides whether the last ``&`` is an operator:
quoting, comments, here-documents and arithmetic expansion (POSIX.1-2017, XCU 2.2, 2.3, 2.6, 2.7).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_QUOTES = "'\"`"
_BLANKS = " \t\r\n\f\v"
_WORD = r"(?:\\.|'[^']*'|\"[^\"]*\"|[^\s;&|<>()'\"\\])+"
_HEREDOC = re.compile(rf"<<(-?)[ \t]*({_WORD})")


class _Heredoc(NamedTuple):
    end: str
    """The delimiter line."""
    tabs: bool
    """True for ``<<-``: leading tabs of each line are removed."""


def without_background_suffix(command: str) -> str | None:
    """Return the command without its trailing ``&``; None if it has none.

    Comments after it are removed with it. An ampersand does not count if it is quoted, escaped, or
    part of a comment, a here-document, ``&&``, ``|&`` or a redirection.
    """
    command = _trimmed(command).lstrip(_BLANKS)
    while (comment := _last_comment(command)) is not None:
        command = _trimmed(command[:comment])
    # Operators that end in an ampersand: AND list, pipe of both outputs, duplicated descriptors.
    if not command.endswith("&") or command.endswith(("&&", "|&", ">&", "<&")):
        return None
    return _trimmed(command[:-1]) if len(command) - 1 in _unquoted(command) else None


def _trimmed(text: str) -> str:
    """Remove trailing blanks and line continuations, except an escaped blank."""
    body = text.rstrip(_BLANKS)
    escapes = len(body) - len(body.rstrip("\\"))
    if escapes % 2 == 0 or len(body) == len(text):
        return body
    escaped = text[len(body)]
    return _trimmed(body[:-1]) if escaped == "\n" else body + escaped


def _last_comment(command: str) -> int | None:
    """Return the position of a comment that ends the command."""
    last = command.rfind("\n") + 1
    return next((at for at in _unquoted(command) if at >= last and _is_comment(command, at)), None)


def _unquoted(command: str) -> Iterator[int]:
    """Yield the positions of tokens outside of quotes, comments and here-documents."""
    quote = ""
    heredocs: list[_Heredoc] = []
    at = 0
    while at < len(command):
        char = command[at]
        # A backslash escapes the next character, except within single quotes.
        if char == "\\" and quote != "'":
            at += 2
        elif quote:
            quote = "" if char == quote else quote
            at += 1
        elif char in _QUOTES:
            quote = char
            at += 1
        # The bodies of here-documents begin after the line that contains their operators.
        elif char == "\n":
            at = _after(heredocs, command, at + 1)
            heredocs = []
        else:
            yield at
            at = _next(command, at, heredocs)


def _next(command: str, at: int, heredocs: list[_Heredoc]) -> int:
    """Return the position after the unquoted token that begins at ``at``."""
    if command.startswith("$((", at):
        # In arithmetic expansion "<<" is a shift operator and no here-document.
        return max(command.find("))", at), at) + 2
    # A here-string (bash) has no body.
    if command.startswith("<<<", at):
        return at + 3
    if found := _HEREDOC.match(command, at):
        # The delimiter line is compared without the quotes of the operator's word.
        heredocs.append(_Heredoc(re.sub(r"[\\'\"]", "", found[2]), bool(found[1])))
        return found.end()
    if _is_comment(command, at):
        end = command.find("\n", at)
        return end if end >= 0 else len(command)
    return at + 1


def _after(heredocs: list[_Heredoc], command: str, at: int) -> int:
    """Return the position after the bodies of the here-documents of the line before."""
    for heredoc in heredocs:
        line = ""
        while line != heredoc.end:
            end = command.find("\n", at)
            if end < 0:
                return len(command)
            line = command[at:end]
            line = line.lstrip("\t") if heredoc.tabs else line
            at = end + 1
    return at


def _is_comment(command: str, at: int) -> bool:
    # A number sign begins a comment only at the start of a word.
    return command[at] == "#" and (at == 0 or command[at - 1] in " \t\n;|&()")
