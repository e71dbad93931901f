"""A desktop that is ordered from a node: what it is started with, as JSON. Pure."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from .errors import BadOrder

Json = dict[str, Any]


@dataclass(frozen=True)
class DesktopOrder:
    """What a desktop is started with; ``id`` makes a repeated order the same one."""

    id: str
    name: str | None = None
    chat_id: str | None = None
    egress: Json | None = None
    """As ``Egress.to_json`` returns it; None for that of the node."""
    display: bool = True
    workdir: str = ""
    """Name of the working directory that desktops of one root chat share."""
    speak: tuple[str, ...] | None = None
    """Dialects; None for those of the node."""
    template: str = ""
    recipe: str = ""
    """Text of the template's file, as a node has none of its own."""
    profile: str = ""

    def to_json(self) -> Json:
        """Return the fields as JSON has them."""
        return asdict(self) | {"speak": None if self.speak is None else list(self.speak)}

    @classmethod
    def of_json(cls, data: Any) -> "DesktopOrder":
        """Read what `to_json` has returned.

        Raises:
            BadOrder: If it is not an order of this version.
        """
        if not isinstance(data, dict) or not isinstance(data.get("id"), str):
            raise BadOrder("an order of a desktop is an object with an id")
        unknown = sorted(data.keys() - {field.name for field in fields(cls)})
        if unknown:
            raise BadOrder(f"unknown fields of an order: {', '.join(unknown)}")
        speak = data.get("speak")
        return cls(**{**data, "speak": None if speak is None else tuple(speak)})
