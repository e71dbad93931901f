"""The commands of cua's computer server, by name: one table. Pure."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import known

from . import file_commands as files
from . import input_commands as inputs
from . import screen_commands as screen
from . import shell_commands as shell
from . import window_commands as windows
from .arguments import Params
from .errors import FailedCommand, RefusedCommand
from .route_call import Calls, Json


@dataclass(frozen=True)
class CuaCommand:
    """One row of the table."""

    calls: Callable[[Params], Calls]
    required: tuple[str, ...] = ()
    optional: Mapping[str, Any] | None = None
    """Other parameters, with their defaults."""
    aliases: tuple[str, ...] = ()
    step: str | None = None
    """Parameter that is the title of the command's step; empty for its name alone.

    None for a command that only reads, and for an action, whose step the route of actions adds.
    """


_POINT = {"x": None, "y": None}
_BUTTON = {**_POINT, "button": "left"}
_WINDOW = ("window_id",)
_PATH = ("path",)

COMMANDS: dict[str, CuaCommand] = {
    "version": CuaCommand(screen.version),
    "screenshot": CuaCommand(screen.screenshot, (), {"format": "png", "quality": 95}),
    "get_screen_size": CuaCommand(screen.screen_size),
    "get_cursor_position": CuaCommand(inputs.cursor_position),
    "left_click": CuaCommand(inputs.click("left"), (), _BUTTON, ("click", "tap")),
    "right_click": CuaCommand(inputs.click("right"), (), _POINT),
    "double_click": CuaCommand(inputs.double_click, (), _BUTTON),
    "mouse_down": CuaCommand(inputs.mouse("down"), (), _BUTTON),
    "mouse_up": CuaCommand(inputs.mouse("up"), (), _BUTTON),
    "move_cursor": CuaCommand(inputs.move_cursor, ("x", "y")),
    "drag_to": CuaCommand(inputs.drag_to, ("x", "y"), {"button": "left", "duration": 0.5}),
    "drag": CuaCommand(inputs.drag, _PATH, {"button": "left", "duration": 0.5}),
    "scroll": CuaCommand(inputs.scroll, (), {**_POINT, "scroll_x": None, "scroll_y": None}),
    "scroll_down": CuaCommand(inputs.scroll_by("down"), (), {"clicks": 1}),
    "scroll_up": CuaCommand(inputs.scroll_by("up"), (), {"clicks": 1}),
    "scroll_direction": CuaCommand(inputs.scroll_direction, ("direction",), {"clicks": 1}),
    "type_text": CuaCommand(inputs.type_text, ("text",), None, ("type",)),
    "press_key": CuaCommand(inputs.press_key, ("key",), None, ("key",)),
    "hotkey": CuaCommand(inputs.hotkey, ("keys",)),
    "key_down": CuaCommand(inputs.held("key_down"), ("key",)),
    "key_up": CuaCommand(inputs.held("key_up"), ("key",)),
    "copy_to_clipboard": CuaCommand(screen.clipboard),
    "set_clipboard": CuaCommand(screen.set_clipboard, ("text",), step=""),
    "run_command": CuaCommand(
        shell.run_command, ("command",), {"timeout": None}, ("shell", "exec"), "command"
    ),
    "get_accessibility_tree": CuaCommand(screen.accessibility_tree),
    "find_element": CuaCommand(
        screen.unavailable, (), {"role": None, "title": None, "value": None}
    ),
    "get_desktop_environment": CuaCommand(screen.desktop_environment),
    "set_wallpaper": CuaCommand(shell.set_wallpaper, _PATH, step="path"),
    "open": CuaCommand(shell.open_target, ("target",), step="target"),
    "launch": CuaCommand(shell.launch, ("app",), {"args": None}, step="app"),
    "get_current_window_id": CuaCommand(windows.current),
    "get_active_window_title": CuaCommand(windows.active_title),
    "get_application_windows": CuaCommand(windows.of_application, ("app",)),
    "get_window_name": CuaCommand(windows.name, _WINDOW),
    "get_window_size": CuaCommand(windows.size, _WINDOW),
    "get_window_position": CuaCommand(windows.position, _WINDOW),
    "set_window_size": CuaCommand(
        windows.placed("width", "height"), (*_WINDOW, "width", "height"), step=""
    ),
    "set_window_position": CuaCommand(windows.placed("x", "y"), (*_WINDOW, "x", "y"), step=""),
    "maximize_window": CuaCommand(windows.changed("maximize"), _WINDOW, step=""),
    "minimize_window": CuaCommand(windows.changed("minimize"), _WINDOW, step=""),
    "activate_window": CuaCommand(windows.changed("focus"), _WINDOW, step=""),
    "close_window": CuaCommand(windows.changed("close"), _WINDOW, step=""),
    "file_exists": CuaCommand(files.file_exists, _PATH),
    "directory_exists": CuaCommand(files.directory_exists, _PATH),
    "list_dir": CuaCommand(files.list_dir, _PATH, None, ("ls",)),
    "read_text": CuaCommand(files.read_text, _PATH, None, ("read_file",)),
    "write_text": CuaCommand(files.write_text, ("path", "content"), None, ("write_file",), "path"),
    "read_bytes": CuaCommand(files.read_bytes, _PATH, {"offset": 0, "length": None}),
    "write_bytes": CuaCommand(
        files.write_bytes, ("path", "content_b64"), {"append": False}, step="path"
    ),
    "get_file_size": CuaCommand(files.file_size, _PATH),
    "create_dir": CuaCommand(files.create_dir, _PATH, None, ("mkdir",), "path"),
    "delete_dir": CuaCommand(files.delete_dir, _PATH, None, ("rmdir",), "path"),
    "delete_file": CuaCommand(files.delete_file, _PATH, None, ("rm",), "path"),
    "get_environment": CuaCommand(screen.environment),
}
NOT_SERVED = ("diorama_cmd", "playwright_exec", "responses")
"""Commands and routes of cua's server for other products."""

ALIASES = {alias: name for name, one in COMMANDS.items() for alias in one.aliases}


def resolved(name: str) -> str:
    """Return the name of a command, which may be an alias.

    Raises:
        RefusedCommand: If there is none; the text names close matches.
    """
    if name in NOT_SERVED:
        raise RefusedCommand(f"Not served: {name}")
    found = ALIASES.get(name, name)
    if found not in COMMANDS:
        close = difflib.get_close_matches(name, (*COMMANDS, *ALIASES), n=3)
        hint = f". Did you mean: {', '.join(close)}?" if close else ""
        raise RefusedCommand(f"Unknown command: {name[:100]}{hint}")
    return found


def check_names(name: str, params: Params) -> None:
    """Check that a command has every parameter that is given.

    Raises:
        FailedCommand: For the first that it has not; the text suggests the nearest.
    """
    row = COMMANDS[name]
    given = {key: value for key, value in params.items() if value is not None}
    try:
        known(given, (*row.required, *(row.optional or {})))
    except BadField as error:
        raise FailedCommand(error.sentence) from error


def listing() -> Json:
    """Return the body of ``GET /commands``."""
    return {
        "commands": {name: _described(one) for name, one in COMMANDS.items()},
        "aliases": ALIASES,
    }


def _described(command: CuaCommand) -> Json:
    params: list[Json] = [
        {"name": name, "required": True, "default": None} for name in command.required
    ]
    params += [
        {"name": name, "required": False, "default": default}
        for name, default in (command.optional or {}).items()
    ]
    return {"params": params, **({"aliases": [*command.aliases]} if command.aliases else {})}
