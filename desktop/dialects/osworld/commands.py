"""Command lines of OSWorld's requests, and what they write. Pure.

A command runs by ``sh -c`` in the process core, which has one stream of output. `collected` is the
script that keeps stdout and stderr apart: it reports both when the command has ended, a short
output in Base64, a long one as files.
"""

import base64
import binascii
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

LONGEST_INLINE = 30_000
"""Bytes of stdout and stderr that are reported without files."""

MISSING = "missing"
"""First line of what `collected` and `launched` write about a program that is not found."""

_FILES = "files "

_COLLECTED = """\
d=$(mktemp -d) || exit 125
trap 'rm -rf "$d"; exit 143' TERM
{script}( {command} ) {stdin} >"$d/out" 2>{errors}
c=$?
if [ "$(cat "$d/out" "$d/err" 2>/dev/null | wc -c)" -le {longest} ]; then
    echo "$c"; base64 -w0 "$d/out"; echo; base64 -w0 "$d/err" 2>/dev/null; echo; rm -rf "$d"
else
    touch "$d/err"; echo "$c"; echo "files $d"
fi
"""


@dataclass(frozen=True)
class ProgramFolder:
    """The directory with the programs that commands of this dialect find first."""

    path: PurePath

    def environment(self) -> str:
        """Return the assignments that a command begins with."""
        programs, modules = shlex.quote(str(self.path / "bin")), shlex.quote(str(self.path / "lib"))
        return (
            f"PATH={programs}:$PATH PYTHONPATH={modules}${{PYTHONPATH:+:$PYTHONPATH}} "
            "PYTHONDONTWRITEBYTECODE=1; export PATH PYTHONPATH PYTHONDONTWRITEBYTECODE\n"
        )


@dataclass(frozen=True)
class EndedCommand:
    """A command that has ended; long outputs are in files of ``folder``."""

    code: int
    output: bytes = b""
    errors: bytes = b""
    folder: str = ""


def words_of(command: str | Sequence[str], *, shell: bool) -> tuple[str, ...] | None:
    """Return the words of a command; None for one that a shell has to read.

    Raises:
        ValueError: If a quotation does not end, or there is no word.
    """
    if isinstance(command, str):
        if shell:
            return None
        command = shlex.split(command)
    elif shell:
        # subprocess passes the first item to the shell, and the others to it as arguments.
        return None
    if not command:
        raise ValueError("the command is empty")
    return tuple(command)


def line_of(command: str | Sequence[str], words: Sequence[str] | None) -> str:
    """Return the line of a shell that runs a command."""
    if words is None:
        if isinstance(command, str):
            return f"sh -c {shlex.quote(command)}"
        return f"sh -c {shlex.join(command)}"
    return f"env -- {' '.join(map(_word, words))}"


def found_first(words: Sequence[str] | None) -> str:
    """Return the lines that end a script where the program of a command is not found."""
    if words is None:
        return ""
    return f"command -v {_word(words[0])} >/dev/null 2>&1 || {{ echo {MISSING}; exit 127; }}\n"


def collected(folder: ProgramFolder, line: str, *, checks: str = "", merged: bool = False) -> str:
    """Return the script that runs a line of a shell and reports its end."""
    return folder.environment() + checks + _filled(line, "", "</dev/null", merged=merged)


def of_script(folder: ProgramFolder, program: str, *, merged: bool = False) -> str:
    """Return the script that runs a program on a text from its standard input."""
    return folder.environment() + _filled(
        f'{program} "$d/script"', 'cat >"$d/script"\n', "</dev/null", merged=merged
    )


def launched(folder: ProgramFolder, line: str, checks: str) -> str:
    """Return the script that starts a line of a shell, and writes a line before."""
    return f"{folder.environment()}{checks}echo started\nexec {line} >/dev/null 2>&1 </dev/null"


def ended_of(output: str) -> EndedCommand | None:
    """Return the end that `collected` has reported; None if it did not come to it."""
    code, *lines = output.splitlines() or [""]
    if not code.isdecimal() or not lines:
        return None
    if lines[0].startswith(_FILES):
        return EndedCommand(int(code), folder=lines[0].removeprefix(_FILES))
    try:
        out, errors = (base64.b64decode(line, validate=True) for line in (*lines, "", "")[:2])
    except binascii.Error:
        return None
    return EndedCommand(int(code), out, errors)


def text_of(data: bytes) -> str:
    """Return what a program wrote as text."""
    return data.decode("utf-8", "replace")


def _filled(line: str, script: str, stdin: str, *, merged: bool) -> str:
    errors = "&1" if merged else '"$d/err"'
    return _COLLECTED.format(
        script=script, command=line, stdin=stdin, errors=errors, longest=LONGEST_INLINE
    )


def _word(word: str) -> str:
    """Quote a word; the home directory is put in for ``~/`` at its beginning."""
    if word.startswith("~/"):
        return f'"$HOME"{shlex.quote(word[1:])}'
    return shlex.quote(word)
