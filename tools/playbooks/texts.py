"""Parameters in the texts of a playbook: ``{name}`` is a value, ``{{`` and ``}}`` are braces."""

import re
from collections.abc import Mapping

NAME = re.compile(r"[a-z][a-z0-9_-]*")
"""Names of parameters, secrets and playbooks."""

_TOKEN = re.compile(r"\{\{|\}\}|\{(" + NAME.pattern + r")\}")


def references(text: str) -> tuple[str, ...]:
    """Return the names of the parameters in a text, in their order."""
    return tuple(match[1] for match in _TOKEN.finditer(text) if match[1])


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return the text with the values of its parameters; unknown names stay as they are."""

    def value(match: re.Match[str]) -> str:
        if match[1]:
            return values.get(match[1], match[0])
        return match[0][0]

    return _TOKEN.sub(value, text)


def escaped(text: str) -> str:
    """Return the text so that :func:`filled` returns it unchanged."""
    # A single brace that begins no reference stays readable, as in a shell command.
    if filled(text, {}) == text and not references(text):
        return text
    return text.replace("{", "{{").replace("}", "}}")
