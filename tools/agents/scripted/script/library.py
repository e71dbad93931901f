"""Scripts in YAML files."""

from functools import cache
from pathlib import Path

import yaml

from .script import BadScript, Script, read_script

PACKAGED = Path(__file__).parent / "scripts"


@cache
def packaged_scripts() -> tuple[Script, ...]:
    """Return the scripts that come with the package, which are read once."""
    return tuple(load_script(path) for path in sorted(PACKAGED.glob("*.yaml")))


def load_script(path: Path) -> Script:
    """Read one file; its name without the suffix is the name of the script.

    Raises:
        BadScript: If the file is no YAML, or not a script.
    """
    return parse_script(path.stem, path.read_text(encoding="utf-8"))


def parse_script(name: str, text: str) -> Script:
    """Parse YAML text; raises the same as :func:`load_script`."""
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadScript(name, "the file", f"is not YAML: {error}") from error
    return read_script(name, data)
