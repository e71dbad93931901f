"""Tell whether a shell command ends in ``&``, which is a wish to run it in the background."""

import re
from typing import NamedTuple

_QUOTES = "'\"`"
_BLANKS = " \t\r\n\f\v"
_WORD = r"(?:\\.|'[^']*'|\"[^\"]*\"|[^\s;&|<>()'\"\\])+"
_HEREDOC = re.compile(rf"<<(-?)[ \t]*({_WORD})")


class _Heredoc(NamedTuple):
    end: str
    """The line that ends it."""
    tabs: bool
    """Whether tabs in front of a line do not count."""


def in_background(command: str) -> str | None:
    """Return the command without its last ``&``; None if it does not end in one.

    An ampersand that is quoted, escaped, part of a comment, of a here-document, of ``&&``, ``|&``
    or of a redirection is none.
    """
    command = _trimmed(command).lstrip(_BLANKS)
    if not command.endswith("&") or command.endswith(("&&", "|&", ">&", "<&")):
        return None
    return _trimmed(command[:-1]) if _is_plain(command, len(command) - 1) else None


def _trimmed(text: str) -> str:
    """Drop blanks at the end, but for one that is escaped, and lines that are only continued."""
    body = text.rstrip(_BLANKS)
    escapes = len(body) - len(body.rstrip("\\"))
    if escapes % 2 == 0 or len(body) == len(text):
        return body
    escaped = text[len(body)]
    return _trimmed(body[:-1]) if escaped == "\n" else body + escaped


def _is_plain(command: str, position: int) -> bool:
    """Whether the character there is read by the shell as itself."""
    quote = ""
    heredocs: list[_Heredoc] = []
    at = 0
    while at < position:
        char = command[at]
        if char == "\\" and quote != "'":
            at += 2
        elif quote:
            quote = "" if char == quote else quote
            at += 1
        elif char in _QUOTES:
            quote = char
            at += 1
        elif char == "\n":
            at = _after(heredocs, command, at + 1)
            heredocs = []
        else:
            at = _next(command, at, heredocs)
    return at == position and not quote


def _next(command: str, at: int, heredocs: list[_Heredoc]) -> int:
    """Return where to go on after what begins there, which is no quote."""
    if command.startswith("$((", at):
        # Arithmetic: "<<" is a shift in it.
        return max(command.find("))", at), at) + 2
    if command.startswith("<<<", at):
        return at + 3
    if found := _HEREDOC.match(command, at):
        heredocs.append(_Heredoc(re.sub(r"[\\'\"]", "", found[2]), bool(found[1])))
        return found.end()
    if command[at] == "#" and _begins_word(command, at):
        end = command.find("\n", at)
        return end if end >= 0 else len(command)
    return at + 1


def _after(heredocs: list[_Heredoc], command: str, at: int) -> int:
    """Return where the commands go on after the texts that belong to the line before."""
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


def _begins_word(command: str, at: int) -> bool:
    return at == 0 or command[at - 1] in " \t\n;|&()"
