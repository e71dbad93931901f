"""The statements of an SQL script."""

from sqlite3 import complete_statement


def statements_of(script: str) -> tuple[str, ...]:
    """Return the statements of a script, in order; one may contain others, as a trigger does.

    Raises:
        ValueError: If the last statement has no end.
    """
    found: list[str] = []
    begun = ""
    for line in script.splitlines(keepends=True):
        begun += line
        if complete_statement(begun):
            found.append(begun.strip())
            begun = ""
    if begun.strip():
        raise ValueError(f"a statement without an end: {begun.strip()[:80]}")
    return tuple(found)
