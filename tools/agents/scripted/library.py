"""Scripts from YAML files."""

from pathlib import Path

import yaml

from .script import BadScript, Script, read_script

PACKAGED = Path(__file__).parent / "scripts"


def packaged_scripts() -> tuple[Script, ...]:
    """The scripts that come with the package."""
    return tuple(load_script(path) for path in sorted(PACKAGED.glob("*.yaml")))


def load_script(path: Path) -> Script:
    """Read one file; the script has its name without the ending.

    Raises:
        BadScript: It is no YAML, or not a script.
    """
    return parse_script(path.stem, path.read_text(encoding="utf-8"))


def parse_script(name: str, text: str) -> Script:
    """Read YAML text; raises as :func:`load_script`."""
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadScript(name, "the file", f"is not YAML: {error}") from error
    return read_script(name, data)
