"""What a person asks the list of runs for. Pure."""

from dataclasses import dataclass

MOST_WORDS = 10
_ESCAPE = "\\"


@dataclass(frozen=True)
class RunFilter:
    """Conditions that a run must all meet; an empty one always holds."""

    words: tuple[str, ...] = ()
    """Each must occur in the title, the prompt or a report."""
    outcome: str = ""
    """Of the newest turn, such as ``done``."""
    model: str = ""
    needs_person: bool = False
    recorded: bool = False
    since: float | None = None
    """Unix time; runs that were created before are left out."""
    until: float | None = None
    pinned: bool = False
    """A recording is kept whatever its age."""
    owner: str = ""
    """Credential that the run belongs to."""
    families: bool = False
    """Subagents of other runs are left out."""
    seen_by: str = ""
    """Id of a person who is no owner: only runs that this one may see are listed."""


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a search, each once; those after the tenth are left out."""
    return tuple(dict.fromkeys(text.split()))[:MOST_WORDS]


def pattern_of(word: str) -> str:
    r"""Return the pattern of ``LIKE`` for texts that contain a word; its escape is ``\``."""
    for special in (_ESCAPE, "%", "_"):
        word = word.replace(special, _ESCAPE + special)
    return f"%{word}%"
