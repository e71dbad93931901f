"""Places in the texts of a task, such as ``{base_url}``. Pure."""

from collections.abc import Mapping


def filled(text: str, places: Mapping[str, str]) -> str:
    """Return a text with each ``{name}`` of ``places`` replaced; other braces stay."""
    for name, value in places.items():
        text = text.replace(f"{{{name}}}", value)
    return text
