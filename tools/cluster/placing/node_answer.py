"""A node as its gate describes it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import BadAnswer

Json = dict[str, Any]
_KINDS: Mapping[str, type] = {
    **{"name": str, "version": str, "places": int, "room_problem": str, "draining": bool},
    **{"public_url": str, "profiles": list, "desktops": list},
}


@dataclass(frozen=True)
class NodeAnswer:
    """The answer to ``GET /node``."""

    name: str
    version: str
    places: int
    room_problem: str = ""
    """Why it has no room for another desktop, whatever its places are; empty if it has."""
    draining: bool = False
    public_url: str = ""
    profiles: frozenset[str] = frozenset()
    """Names of the profiles whose data it has."""
    desktops: frozenset[str] = frozenset()
    """Ids of the desktops that run on it."""

    @classmethod
    def of_json(cls, data: Any) -> "NodeAnswer":
        """Read an answer; fields of later versions are left out.

        Raises:
            BadAnswer: If it is not that of a node.
        """
        if not isinstance(data, dict):
            raise BadAnswer("the answer is no object")
        for name, kind in _KINDS.items():
            if not isinstance(data.get(name), kind):
                raise BadAnswer(f"{name} is missing in the answer, or of another type")
        desktops = data["desktops"]
        if not all(isinstance(one, dict) and isinstance(one.get("id"), str) for one in desktops):
            raise BadAnswer("a desktop in the answer has no id")
        if not all(isinstance(one, str) for one in data["profiles"]):
            raise BadAnswer("a profile in the answer has no name")
        known = {name: data[name] for name in _KINDS}
        running = frozenset([one["id"] for one in desktops if one.get("status") != "lost"])
        return cls(**{**known, "profiles": frozenset(data["profiles"]), "desktops": running})
