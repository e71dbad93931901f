"""Write docs/command-line.md, the reference of the commands, from their declarations.

Usage: python -m scripts.make_command_reference
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deskhand.tools.cli import command_tree
from deskhand.tools.command_line.options import EXAMPLES

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "command-line.md"
NOT_RUN = "<!-- not run: serves until it is ended, and gives a task to a real model -->"
INTRODUCTION = """# The command line

This page is made of the commands' declarations by `python -m scripts.make_command_reference`.

Client commands find the running control plane by `--url`, `DESKHAND_URL`, or the data directory
(`--data-dir`, `DESKHAND_DATA_DIR`), and its token by `DESKHAND_TOKEN` or the same directory. Runs
and desktops are named by id or by its beginning, desktops by name, too. `--json` prints one object,
`--jsonl` an object in each line. Errors are one line on the standard error.

Exit status: 0 done; 1 failed or refused; 2 wrong input; 3 over budget or timeout; 4 could not
start, or no control plane answers; 5 no model or key; 130 interrupted; 141 the output is no
longer read.
"""


def page() -> str:
    """Return the text of the page."""
    examples = "\n".join(line for line in EXAMPLES.splitlines()[1:] if line)
    parts = [INTRODUCTION, f"{NOT_RUN}\n```sh\n{examples}\n```\n"]
    parts += _sections(command_tree(), ("deskhand",))
    return "\n".join(parts)


def _sections(group: Any, path: tuple[str, ...]) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from _sections(command, (*path, name))
        else:
            yield _section(command, (*path, name))


def _section(command: Any, path: tuple[str, ...]) -> str:
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    arguments = [one for one in shown if one.param_type_name == "argument"]
    options = [one for one in shown if one.param_type_name == "option"]
    usage = " ".join([*path, *(_argument(one) for one in arguments)])
    text = (command.help or "").strip()
    lines = [f"## {' '.join(path)}\n", f"`{usage}`\n", f"{text}\n"]
    rows = [(_argument(one), one.help) for one in arguments if one.help]
    rows += [(_option(one), one.help) for one in options]
    if rows:
        lines += ["| | |", "| --- | --- |"]
        lines += [f"| `{name}` | {_cell(help_text or '')} |" for name, help_text in rows]
        lines.append("")
    return "\n".join(lines)


def _argument(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper())
    return name if argument.required else f"[{name}]"


def _option(option: Any) -> str:
    names = ", ".join(option.opts)
    value = "" if option.is_flag else f" {option.metavar or option.name.upper()}"
    return names + value


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
