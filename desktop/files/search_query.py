"""Requests and matches of a search."""

import json
import re
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .requests import BadFileRequest, object_of

Json = dict[str, Any]

USUAL_LIMIT = 100
MOST = 1_000
FARTHEST = 1_000_000
MOST_GLOBS = 32
LONGEST_PATTERN = 4_096
LONGEST_LINE = 500
LINE_MARK = " ... [truncated]"


@dataclass(frozen=True)
class SearchRequest:
    """Pattern and files of a search."""

    path: str
    pattern: str = ""
    """Regular expression; empty to list the files themselves."""
    globs: tuple[str, ...] = ()
    """Globs in the syntax of .gitignore; a leading ``!`` excludes."""
    literal: bool = False
    ignore_case: bool = False
    offset: int = 0
    limit: int = USUAL_LIMIT

    @property
    def needed(self) -> int:
        """Number of matches that determine the page: one more shows that there is a next one."""
        return self.offset + self.limit + 1

    def expression(self) -> re.Pattern[str]:
        """Return the pattern, compiled.

        Raises:
            BadFileRequest: If the pattern is invalid.
        """
        pattern = re.escape(self.pattern) if self.literal else self.pattern
        try:
            return re.compile(pattern, re.IGNORECASE if self.ignore_case else 0)
        except (re.error, OverflowError, RecursionError) as error:
            raise _invalid("pattern", f"is no regular expression: {error}") from error


@dataclass(frozen=True)
class Match:
    """A matching line, or a whole file (line 0)."""

    path: str
    line: int = 0
    column: int = 0
    """In characters, from 1 on."""
    text: str = ""

    def to_json(self) -> Json:
        """Return the JSON of the match."""
        if not self.line:
            return {"path": self.path}
        return {"path": self.path, "line": self.line, "column": self.column, "text": self.text}


def search_request(data: bytes) -> SearchRequest:
    """Read the body of a search."""
    body = object_of(data)
    globs = _globs(body)
    request = SearchRequest(
        path=_text(body, "path"),
        pattern=_text(body, "pattern"),
        globs=globs,
        literal=_flag(body, "literal"),
        ignore_case=_flag(body, "ignore_case"),
        offset=_number(body, "offset", 0, 0, FARTHEST),
        limit=_number(body, "limit", USUAL_LIMIT, 1, MOST),
    )
    if not request.path:
        raise _invalid("path", "is required and must not be empty")
    if not request.pattern and not globs:
        raise _invalid("pattern", "is required unless a glob is given")
    if len(request.pattern) > LONGEST_PATTERN:
        raise _invalid("pattern", f"must not be longer than {LONGEST_PATTERN} characters")
    return request


def shown(line: str) -> str:
    """Return a line without its ending, shortened to the limit."""
    line = line.rstrip("\r\n")
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + LINE_MARK


class Globs:
    """Selects paths. The last matching glob decides, as in ripgrep."""

    def __init__(self, globs: Sequence[str]) -> None:
        self._rules = [(not g.startswith("!"), glob_expression(g.lstrip("!"))) for g in globs]
        self._usually = not any(wanted for wanted, _ in self._rules)

    def want(self, path: str) -> bool:
        """Return True if a path, relative to the tree, is selected."""
        for wanted, expression in reversed(self._rules):
            if expression.fullmatch(path):
                return wanted
        return self._usually


def glob_expression(glob: str) -> re.Pattern[str]:
    """Return a regular expression that matches the relative paths of a glob.

    A glob without a slash matches names at any depth; one with a slash matches from the tree on.
    """
    anchored = "/" in glob.rstrip("/")
    inner = _translated(glob.strip("/"))
    # A matching folder includes everything below it.
    return re.compile(("" if anchored else "(?:.*/)?") + inner + "(?:/.*)?", re.DOTALL)


# The order matters: `**/` before `*`. `]` right after the opening bracket is a member (glob(7)).
_TOKENS = re.compile(r"\*\*/|/\*\*$|\*+|\?|\[[!^]?\]?[^\]]*\]|\{[^{}]*\}|.", re.DOTALL)


def _translated(glob: str) -> str:
    return "".join(_piece(token) for token in _TOKENS.findall(glob))


def _piece(token: str) -> str:
    match token[0], token:
        case "*", "**/":
            return "(?:.*/)?"
        case "/", "/**":
            return "/.*"
        case "*", _:
            return "[^/]*"
        case "?", _:
            return "[^/]"
        case "[", _ if len(token) > 1:
            return _set(token)
        case "{", _ if len(token) > 1:
            return "(?:" + "|".join(map(_translated, token[1:-1].split(","))) + ")"
    return re.escape(token)


def _set(token: str) -> str:
    negated = token[1] in "!^"
    inner = token[1 + negated : -1]
    if not inner:
        return re.escape(token)
    text = "".join(map(_member, _MEMBERS.findall(inner)))
    try:
        # A slash separates components, which a negated set must not match (glob(7)).
        return re.compile(f"[{'^/' if negated else ''}{text}]").pattern
    except re.error:
        return re.escape(token)


_MEMBERS = re.compile(r".-.|.", re.DOTALL)


def _member(part: str) -> str:
    """Return a character of a set, or a range of them."""
    return "-".join(map(re.escape, (part[0], part[2]))) if len(part) > 1 else re.escape(part)


def ripgrep_arguments(request: SearchRequest, base: str) -> list[str]:
    """Return ripgrep's arguments: include hidden files, skip ignored ones, sort by path."""
    # `--sort=path` makes ripgrep single-threaded, but pages by offset need a stable order. The
    # configuration file of the service's user must not affect results.
    arguments = ["--no-config", "--hidden", "--sort=path", "--no-messages", "--max-filesize=50M"]
    # `!.git` is last and thus decides: `--hidden` would include the repository's own files.
    arguments += [f"--glob={glob}" for glob in (*request.globs, "!.git")]
    if not request.pattern:
        return [*arguments, "--files", "--null", "--", base]
    if request.literal:
        arguments.append("--fixed-strings")
    if request.ignore_case:
        arguments.append("--ignore-case")
    # `--regexp=` and `--`: a pattern or path that begins with `-` must not be read as an option.
    return [*arguments, "--json", f"--regexp={request.pattern}", "--", base]


def ripgrep_match(line: bytes) -> Match | None:
    """Parse a line of ripgrep's JSON output; None unless it is a match."""
    message = json.loads(line)
    if message.get("type") != "match":
        return None
    data = message["data"]
    whole = _bytes(data["lines"])
    first = data["submatches"][0]["start"] if data["submatches"] else 0
    return Match(
        path=_bytes(data["path"]).decode("utf-8", "replace"),
        line=data["line_number"],
        column=len(whole[:first].decode("utf-8", "replace")) + 1,
        text=shown(whole.decode("utf-8", "replace")),
    )


def _bytes(value: Json) -> bytes:
    # ripgrep encodes text that is not valid UTF-8 in base64.
    if "text" in value:
        return str(value["text"]).encode()
    return b64decode(value["bytes"])


def _globs(body: Json) -> tuple[str, ...]:
    given = body.get("glob", body.get("globs"))
    listed = [given] if isinstance(given, str) else given or []
    if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
        raise _invalid("glob", "must be a text or a list of texts")
    if len(listed) > MOST_GLOBS or any("\0" in g or len(g) > LONGEST_PATTERN for g in listed):
        raise _invalid("glob", f"at most {MOST_GLOBS} globs without NUL are taken")
    return tuple(listed)


def _text(body: Json, name: str) -> str:
    value = body.get(name)
    if value is not None and (not isinstance(value, str) or "\0" in value):
        raise _invalid(name, "must be a text without NUL")
    return value or ""


def _flag(body: Json, name: str) -> bool:
    value = body.get(name)
    if not isinstance(value, bool | None):
        raise _invalid(name, "must be true or false")
    return bool(value)


def _number(body: Json, name: str, usual: int, least: int, most: int) -> int:
    value = body.get(name)
    if value is None:
        return usual
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise _invalid(name, f"must be a whole number from {least} to {most}")
    return value


def _invalid(name: str, what: str) -> BadFileRequest:
    return BadFileRequest("The search is invalid.", f"{name}: {what}", {name: what})
