"""Commands of a shell that delete or install something, or reach outside of the machine. Pure.

The table decides by the name of each program in a command line, and by its subcommand. It finds
what a command line says, not what a script does that it starts: it asks a person about what an
agent does openly, and is no boundary against one that hides it.
"""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal

from .hosts import hosts_in, is_loopback, started_host
from .places import NOT_KNOWN, Places

Json = dict[str, Any]
DELETE, INSTALL, OUTSIDE, UPLOAD = "delete", "install", "outside", "upload"

Effect = Literal["files", "folder", "packages", "elsewhere"]
"""Where a command has its effect: on the files that it names, in the directory in which it runs, on
the packages of the desktop, or not on the desktop alone. Only the last one is asked for everywhere
(:mod:`.places`)."""

_INSTALLING = r"install|reinstall|remove|purge|uninstall|upgrade|dist-upgrade|autoremove|add|i|ci"
COMMAND_RULES: tuple[tuple[str, Effect, str, str], ...] = (
    (DELETE, "files", r"rm|rmdir|unlink|shred|wipe|truncate|dd|trash-put", ""),
    (DELETE, "elsewhere", r"wipefs|mkfs(\..+)?|fdisk", ""),
    (DELETE, "files", r"find", r".*-delete"),
    (DELETE, "folder", r"git", r"clean|reset|rm|gc|branch -[dD]|stash (drop|clear)"),
    (DELETE, "elsewhere", r"git", r"push -+(delete|d|force|f)"),
    (DELETE, "elsewhere", r"docker|podman", r"rm|rmi|prune|system|volume rm"),
    (DELETE, "elsewhere", r"kubectl", r"delete"),
    (
        INSTALL,
        "packages",
        r"apt|apt-get|aptitude|yum|dnf|apk|zypper|snap|flatpak|brew",
        _INSTALLING,
    ),
    (INSTALL, "packages", r"dpkg|rpm|pacman", r"-.+"),
    (INSTALL, "packages", r"pip[\d.]*|pipx|gem|conda|mamba", rf"({_INSTALLING}|get|tool)"),
    (INSTALL, "folder", r"uv|poetry|cargo|go", rf"({_INSTALLING}|get|tool)"),
    (INSTALL, "folder", r"npm|pnpm|yarn|bun", rf"({_INSTALLING})|$"),
    (INSTALL, "packages", r"make", r"install"),
    (INSTALL, "packages", r"npx", r""),
    (UPLOAD, "elsewhere", r"curl", r".*(-F|-T|--form|--upload-file|@).*"),
    (UPLOAD, "elsewhere", r"scp|sftp|rsync|ftp|lftp|rclone|s3cmd|twine", r""),
    (UPLOAD, "elsewhere", r"npm|cargo|poetry", r"publish"),
    (UPLOAD, "elsewhere", r"aws|gsutil|az", r".*(cp|sync|mv|upload).*"),
    (OUTSIDE, "folder", r"curl|wget|aria2c|dig|nslookup", r""),
    (OUTSIDE, "elsewhere", r"ssh|telnet|nc|ncat|netcat|socat|mail|sendmail|mutt|gh|glab", r""),
    (OUTSIDE, "elsewhere", r"aws|gcloud|gsutil|az|kubectl|heroku|flyctl|psql|mysql|redis-cli", r""),
    (OUTSIDE, "elsewhere", r"git", r"push"),
    (OUTSIDE, "folder", r"git", r"pull|fetch|clone|ls-remote|submodule|remote update"),
    (OUTSIDE, "elsewhere", r"docker|podman", r"push|pull|login|run"),
)
"""Rule, effect, names of programs, and beginning of their arguments; an empty one fits all."""

REASONS = {
    DELETE: "it deletes something",
    INSTALL: "it installs or removes programs",
    OUTSIDE: "it reaches outside of the machine",
    UPLOAD: "it sends files outside of the machine",
}

_SEPARATORS = ";|&()\n"
_PREFIXES = frozenset(
    (
        *("sudo", "doas", "env", "nice", "nohup", "time", "timeout", "xargs", "exec", "command"),
        *("builtin", "setsid", "stdbuf", "ionice", "watch"),
        *("then", "do", "else", "if", "while", "!"),
    )
)
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "eval"))
_SUBSTITUTION = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_ASSIGNMENT = re.compile(r"\w+=.*", re.DOTALL)
_BROWSERS = re.compile(r"browser|xdg-open|(google-)?chrom.*|firefox.*|brave.*|opera|vivaldi")
_REQUESTS = {"deskhand-request": 1, "deskhand-request.py": 2}
"""Programs by which a command asks the service of its desktop, and the place of the request among
their words: the second one takes the socket before it."""
_FIRST_CHANGE = re.compile(r"\s*cd\s+(?P<folder>[\w./~-]+)\s*&&(?P<rest>.*)", re.DOTALL)
_GOES_ON = re.compile(r"[;\n]|\|\||(?<![&>])&(?![&>])|\b(?:cd|pushd|popd)\b")
_REDIRECTION = re.compile(r"\d*[<>]")
_DEEPEST = 5


def command_risks(
    command: str, places: Places = NOT_KNOWN, requested: object = None
) -> dict[str, str]:
    """Return the rules that a command line meets, each with the program that meets it.

    It runs in the directory ``requested`` of a machine with these ``places``. An effect that ends
    with the desktop meets no rule.
    """
    place = _Place(places, places.folder(_changed_folder(command) or requested), command)
    found: dict[str, str] = {}
    for words in _commands(command, _DEEPEST):
        program, rest = words[0].rpartition("/")[2], " ".join(words[1:])
        for rule, effect, programs, arguments in COMMAND_RULES:
            fits = not arguments or re.match(rf"({arguments})(?!\w)", rest)
            if not re.fullmatch(programs, program) or not fits or not place.keeps(effect, words):
                continue
            if rule in (OUTSIDE, UPLOAD) and _stays_here(rest):
                continue
            found.setdefault(rule, program)
    outside = [host for host in command_hosts(command) if not is_loopback(host)]
    if outside and place.keeps("folder", []):
        found.setdefault(OUTSIDE, outside[0])
    if "/dev/tcp/" in command or "/dev/udp/" in command:
        found.setdefault(OUTSIDE, "/dev/tcp")
    return found


@dataclass(frozen=True)
class _Place:
    """The directory in which a command line runs."""

    places: Places
    folder: str
    line: str

    def keeps(self, effect: Effect, words: list[str]) -> bool:
        """Return whether the effect of a command of the line outlives the desktop."""
        if effect == "elsewhere" or self.places.named_in(self.line):
            return True
        if effect == "packages":
            return False
        files = _operands(words) if effect == "files" else []
        return any(self.places.lasts(one, self.folder) for one in files or [""])


def _changed_folder(command: str) -> str:
    """Return the directory in which a command line runs that changes it first; empty if none.

    Nothing of the line may run if the change fails, or after another change.
    """
    found = _FIRST_CHANGE.fullmatch(command)
    if found is None or _GOES_ON.search(found["rest"]):
        return ""
    return found["folder"]


def _operands(words: list[str]) -> list[str]:
    """Return the files that a command names, also as ``of=FILE``."""
    program, *rest = words
    if program.rpartition("/")[2] == "find":
        rest = [*takewhile(lambda word: not word.startswith("-"), rest)]
    named = (word for word in rest if not word.startswith("-") and not _REDIRECTION.match(word))
    return [word.partition("=")[2] or word for word in named]


def command_hosts(command: str) -> tuple[str, ...]:
    """Return the hosts of the URLs in a command line, and those that its browsers open."""
    started = [
        started_host(argument)
        for words in _commands(command, _DEEPEST)
        for program, *arguments in (words, *_requests(words))
        if _BROWSERS.fullmatch(program.rpartition("/")[2])
        for argument in arguments
    ]
    return tuple(dict.fromkeys((*hosts_in(command), *filter(None, started))))


@dataclass(frozen=True)
class RequestedInput:
    """Input that a command requests of the service of its desktop."""

    written: str
    """The request as the command line has it."""
    action: Json | None
    """None if it cannot be read, as when a variable has it."""


def requested_inputs(command: str) -> tuple[RequestedInput, ...]:
    """Return the input that a command line requests by ``deskhand-request input``."""
    return tuple(
        RequestedInput(written, _action(written))
        for words in _commands(command, _DEEPEST)
        for kind, *arguments in _requests(words)
        if kind == "input"
        for written in (" ".join(arguments),)
    )


def _requests(words: list[str]) -> Iterator[list[str]]:
    """Return the requests that a command sends to the service of its desktop."""
    for at, word in enumerate(words):
        words_before = _REQUESTS.get(word.rpartition("/")[2])
        request = [] if words_before is None else words[at + words_before :]
        if request:
            yield ["xdg-open" if request[0] == "open" else request[0], *request[1:]]


def _action(written: str) -> Json | None:
    try:
        action = json.loads(written)
    except (ValueError, RecursionError):
        return None
    named = isinstance(action, dict) and isinstance(action.get("action"), str)
    return action if named else None


def _stays_here(arguments: str) -> bool:
    hosts = hosts_in(arguments)
    if not hosts:
        named = [word for word in arguments.split() if not word.startswith("-")]
        hosts = tuple(word.partition(":")[0].partition("/")[0] for word in named)[:1]
    return bool(hosts) and all(map(is_loopback, hosts))


def _commands(text: str, depth: int) -> Iterator[list[str]]:
    if depth == 0:
        return
    for match in _SUBSTITUTION.finditer(text):
        yield from _commands(match.group(1) or match.group(2) or "", depth - 1)
    words: list[str] = []
    for word in (*_words(text), ";"):
        if set(word) <= set(_SEPARATORS):
            yield from _command(words, depth)
            words = []
        else:
            words.append(word)


def _command(words: list[str], depth: int) -> Iterator[list[str]]:
    while words and _is_prefix(words[0]):
        words = words[1:]
        # The options and numbers of a prefix, as of ``timeout -k 5 60 rm x``.
        while words and (words[0].startswith("-") or words[0][:1].isdigit()):
            words = words[1:]
    if not words:
        return
    yield words
    if words[0].rpartition("/")[2] in _SHELLS:
        for inner in words[1:]:
            if not inner.startswith("-"):
                yield from _commands(inner, depth - 1)
    for index, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok") and words[index + 1 :]:
            yield from _command(words[index + 1 :], depth)


def _is_prefix(word: str) -> bool:
    return word in _PREFIXES or _ASSIGNMENT.fullmatch(word) is not None or word in ("{", "}", "$")


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_SEPARATORS)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        return list(lexer)
    except ValueError:
        # A quote without its end: the rest counts as words.
        spaced = re.sub(f"([{re.escape(_SEPARATORS)}])", r" \1 ", text)
        return re.sub(r"[\"']", "", spaced).split(" ")
