"""Requests and matches of a search."""

import json
import re
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.fields import (
    Field,
    Fields,
    Json,
    any_text,
    each,
    flag,
    outside,
    within,
    wrong,
)

from .requests import BadFileRequest, object_of, read_body

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
    given = read_body(_SEARCH, object_of(data), "The search is invalid.")
    request = SearchRequest(
        path=given["path"],
        pattern=given["pattern"],
        globs=given["glob"],
        literal=given["literal"],
        ignore_case=given["ignore_case"],
        offset=given["offset"],
        limit=given["limit"],
    )
    if not request.path:
        raise _invalid("path", "is required and must not be empty")
    if not request.pattern and not request.globs:
        raise _invalid("pattern", "is required unless a glob is given")
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


def _globs(name: str, value: Any) -> tuple[str, ...]:
    listed = each(_text)(name, [value] if isinstance(value, str) else value)
    if "" in listed:
        raise outside(name, "must not be empty")
    if len(listed) > MOST_GLOBS or any(len(one) > LONGEST_PATTERN for one in listed):
        raise outside(name, f"is at most {MOST_GLOBS} globs of {LONGEST_PATTERN} characters")
    return listed


def _text(name: str, value: Any) -> str:
    if "\0" in any_text(name, value):
        raise wrong(name, "a text without NUL")
    return str(value)


def _pattern(name: str, value: Any) -> str:
    if len(_text(name, value)) > LONGEST_PATTERN:
        raise outside(name, f"must not be longer than {LONGEST_PATTERN} characters")
    return str(value)


_SEARCH = Fields(
    {
        "path": Field({"type": "string"}, _text, ""),
        "pattern": Field({"type": "string"}, _pattern, ""),
        "glob": Field({"type": ["string", "array"], "items": {"type": "string"}}, _globs, ()),
        "literal": Field({"type": "boolean"}, flag, False),
        "ignore_case": Field({"type": "boolean"}, flag, False),
        "offset": Field({"type": "integer"}, within(0, FARTHEST), 0),
        "limit": Field({"type": "integer"}, within(1, MOST), USUAL_LIMIT),
    },
    former={"globs": "glob"},
)


def _invalid(name: str, what: str) -> BadFileRequest:
    return BadFileRequest("The search is invalid.", f"{name}: {what}", {name: what})
