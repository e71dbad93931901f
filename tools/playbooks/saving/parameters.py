"""Parameters of a saved run: names and defaults for the texts that were typed. Pure."""

import re
import unicodedata

from deskhand.tools.playbooks.playbook import Parameter, Target
from deskhand.tools.playbooks.texts import escaped

LONGEST_NAME = 30
SHORTEST_VALUE = 3
"""Characters of a value that is replaced in other texts: a shorter one may be there by chance."""


def slug(text: str, default: str) -> str:
    """Return a name made of a text; ``default`` if none of its letters can be used."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_NAME].strip("-")
    return words if words[:1].isalpha() else default


class TypedTexts:
    """The parameters of one playbook, as they are found."""

    def __init__(self) -> None:
        self.parameters: dict[str, Parameter] = {}

    def parameter(self, text: str, target: Target | None, *, hidden: bool = False) -> str:
        """Return the text of a step that types; a ``hidden`` text gets no default."""
        body = text.rstrip("\r\n")
        if not body.strip() and not hidden:
            return escaped(text)
        default = None if hidden else body
        wanted = slug(target.name if target else "", "text")
        name, number = wanted, 2
        while name in self.parameters and (hidden or self.parameters[name].default != default):
            name, number = f"{wanted}-{number}", number + 1
        self.parameters[name] = Parameter(default)
        return f"{{{name}}}{'' if hidden else text[len(body) :]}"

    def replaced(self, text: str) -> str:
        """Return another text of the playbook with parameters in place of their values."""
        values = {
            one.default: name
            for name, one in self.parameters.items()
            if one.default is not None and len(one.default) >= SHORTEST_VALUE
        }
        if not values:
            return escaped(text)
        pattern = "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))
        parts = re.split(f"({pattern})", text)
        return "".join(
            f"{{{values[part]}}}" if index % 2 else escaped(part)
            for index, part in enumerate(parts)
        )
