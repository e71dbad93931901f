"""Tell whether a shell command ends in ``&``, which is a wish to run it in the background."""

_QUOTES = "'\"`"


def in_background(command: str) -> str | None:
    """Return the command without its last ``&``; None if it does not end in one.

    An ampersand that is quoted, escaped, part of a comment, of ``&&``, ``|&`` or of a
    redirection is none.
    """
    command = command.rstrip()
    if not command.endswith("&") or command.endswith(("&&", "|&", ">&", "<&")):
        return None
    return command[:-1].rstrip() if _is_plain(command, len(command) - 1) else None


def _is_plain(command: str, position: int) -> bool:
    """Whether the character there is read by the shell as itself."""
    quote = ""
    at = 0
    while at < position:
        char = command[at]
        if char == "\\" and quote != "'":
            at += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in _QUOTES:
            quote = char
        elif char == "#" and _begins_word(command, at):
            end = command.find("\n", at)
            if end < 0:
                return False
            at = end
        at += 1
    return at == position and not quote


def _begins_word(command: str, at: int) -> bool:
    return at == 0 or command[at - 1] in " \t\n;|&()"
