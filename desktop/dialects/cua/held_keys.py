"""Keys and mouse buttons that a client of cua holds. Pure."""

from .messages import CommandRequest


class HeldKeys:
    """Notes the commands of one connection, and returns those that release what it holds."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], CommandRequest] = {}

    def note(self, request: CommandRequest) -> None:
        """Note a command before it is performed."""
        match request.command:
            case "key_down" | "key_up":
                name, default = "key", ""
            case "mouse_down" | "mouse_up":
                name, default = "button", "left"
            case _:
                return
        value = str(request.params.get(name) or default)
        if request.command.endswith("_down"):
            release = request.command.replace("_down", "_up")
            self._held[name, value] = CommandRequest(release, {name: value})
        else:
            self._held.pop((name, value), None)

    def releases(self) -> tuple[CommandRequest, ...]:
        """Return the commands that release all, the last pressed first."""
        return tuple(reversed(self._held.values()))
